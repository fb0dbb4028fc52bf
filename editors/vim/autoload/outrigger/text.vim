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
