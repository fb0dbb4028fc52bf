vim9script
# A text as the lines of a buffer, and back, byte for byte.
#
# What is no part of the lines (line ends, byte order mark, a missing newline at the end) is kept
# in the buffer's own options, where Vim keeps it for every file.

const MARK = "\ufeff"
const ENDS = {unix: "\n", dos: "\r\n", mac: "\r"}

# Characters that would steer the screen instead of being seen, from the first to the last. The program
# has the same list. Joiners are not among them: scripts and emoji need them.
const STEERING = [
  [0x7f, 0x9f],
  [0xad, 0xad],
  [0x61c, 0x61c],
  [0x115f, 0x1160],
  [0x180e, 0x180e],
  [0x200b, 0x200b],
  [0x200e, 0x200f],
  [0x2028, 0x202e],
  [0x2060, 0x206f],
  [0x3164, 0x3164],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff9, 0xfffb],
  [0xe0000, 0xe007f],
]

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

# Somebody else's text in one line, with everything in it to be seen: names and paths in messages, in
# status lines and in names of buffers.
export def OneLine(text: string): string
  return text->str2list(true)->mapnew((_, code) => Shown(code))->join('')
enddef

def Shown(code: number): string
  if code < 0x20
    # The pictures of these characters are in the same order as the characters.
    return nr2char(0x2400 + code, true)
  endif
  for [first, last] in STEERING
    if first <= code && code <= last
      return printf('<U+%04X>', code)
    endif
  endfor
  return nr2char(code, true)
enddef

# Bytes that are no UTF-8 would make a message that is no JSON.
def Clean(text: string): string
  return text =~# '[^\x00-\x7f]' ? list2str(str2list(text, true), true) : text
enddef

def HasCarriageReturns(ended: list<string>): bool
  return !empty(ended) && ended->copy()->filter((_, line) => line !~# '\r$')->empty()
enddef
