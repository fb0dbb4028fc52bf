vim9script
# A text as the lines of a buffer, and back, byte for byte.
#
# What is no part of the lines (line ends, byte order mark, a missing newline at the end) is kept
# in the buffer's own options, where Vim keeps it for every file.

const MARK = "\ufeff"
const ENDS = {unix: "\n", dos: "\r\n", mac: "\r"}

# Fills the current buffer. Undo does not go further back than this.
export def Put(text: string)
  const marked = text->strpart(0, strlen(MARK)) ==# MARK
  var lines = text->strpart(marked ? strlen(MARK) : 0)->split("\n", true)
  const ended = len(lines) > 1 && lines[-1] == ''
  if ended
    lines->remove(-1)
  endif
  const dos = HasCarriageReturns(ended ? lines : lines[: -2])
  if dos
    const last = lines[-1]
    lines->map((_, line) => line->substitute('\r$', '', ''))
    if !ended
      lines[-1] = last
    endif
  endif
  setlocal modifiable
  const levels = &l:undolevels
  setlocal undolevels=-1
  silent deletebufline('%', 1, '$')
  setline(1, lines)
  &l:undolevels = levels
  setlocal fileencoding=utf-8 nofixendofline
  &l:fileformat = dos ? 'dos' : 'unix'
  &l:bomb = marked
  &l:endofline = ended
  setlocal nomodified
enddef

# Fills the buffer in a window, wherever that is. Undo can be cut off in the current buffer only, and what
# is executed in another window is one line.
export def PutInto(window: number, text: string)
  win_execute(window, $'call outrigger#text#Put(json_decode({string(json_encode(text))}))')
enddef

# What a buffer says.
export def Of(buffer: number): string
  const lines = getbufline(buffer, 1, '$')
  if lines == ['']
    return ''
  endif
  const end = ENDS[getbufvar(buffer, '&fileformat')]
  const mark = getbufvar(buffer, '&bomb') ? MARK : ''
  return mark .. Clean(lines->join(end)) .. (getbufvar(buffer, '&endofline') ? end : '')
enddef

# Where line `at` of the lines `before` is in the lines `after`, or what is in its place.
export def Moved(before: list<string>, after: list<string>, at: number): number
  const shorter = min([len(before), len(after)])
  var same = 0
  while same < shorter && before[same] ==# after[same]
    same += 1
  endwhile
  if at <= same
    return at
  endif
  var left = 0
  while left < shorter - same && before[-1 - left] ==# after[-1 - left]
    left += 1
  endwhile
  if at > len(before) - left
    return at + len(after) - len(before)
  endif
  return max([min([at, len(after) - left]), 1])
enddef

# Whether two texts are the same but for their line endings and byte order mark.
export def IsSame(one: string, other: string): bool
  return Plain(one) ==# Plain(other)
enddef

def Plain(text: string): string
  return text->substitute('^' .. MARK, '', '')->substitute('\r\n', "\n", 'g')
enddef

# Lines as the companion keeps them: each one ended by a line feed, whatever the file has.
export def Join(lines: list<string>): string
  return empty(lines) ? '' : Clean(lines->join("\n")) .. "\n"
enddef

# Bytes that are no UTF-8 would make a message that is no JSON.
def Clean(text: string): string
  return text =~# '[^\x00-\x7f]' ? list2str(str2list(text, true), true) : text
enddef

def HasCarriageReturns(ended: list<string>): bool
  return !empty(ended) && ended->copy()->filter((_, line) => line !~# '\r$')->empty()
enddef
