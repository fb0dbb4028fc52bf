vim9script
# What happened, for `:Outrigger log`. No text of a file is ever part of it.

import autoload './text.vim' as texts
import autoload './viewer.vim'

const MOST_LINES = 1000

var lines: list<string>

# Adds a line, whatever is in it.
export def Add(text: string)
  lines->add(strftime('%H:%M:%S ') .. texts.OneLine(text))
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
