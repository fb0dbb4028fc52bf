vim9script
# What happened, for `:Outrigger log`. No text of a file is ever part of it.

import autoload './viewer.vim'

const MOST_LINES = 1000

var lines: list<string>

export def Add(text: string)
  for line in text->split("\n")
    lines->add(strftime('%H:%M:%S ') .. line)
  endfor
  if len(lines) > MOST_LINES
    lines->remove(0, len(lines) - MOST_LINES - 1)
  endif
enddef

# The newest lines.
export def Tail(count: number): list<string>
  return lines[max([0, len(lines) - count]) :]
enddef

export def Show()
  viewer.Show('outrigger://log', lines)
enddef
