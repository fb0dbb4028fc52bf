vim9script
# What the person is told. At the bottom it is always one line: a longer one would make Vim wait for
# Enter. What does not fit there, or would not be seen because the person is inserting text, is above
# the text as well.

import autoload './log.vim'
import autoload './text.vim' as texts

# How long a notice stays, in milliseconds.
const NOTICE = 8000

# What was told once.
var told: dict<bool>

export def Info(text: string)
  Show(text, 'None')
enddef

export def Warning(text: string)
  Show(text, 'WarningMsg')
enddef

export def Error(text: string)
  Show(text, 'ErrorMsg')
enddef

# Above the text for a few seconds: what somebody who is typing would not see at the bottom.
export def Notice(text: string)
  log.Add(text)
  PopUp('outrigger: ' .. InALine(text))
enddef

# A warning, but once in this Vim; what comes again is only logged.
export def Once(text: string)
  if told->has_key(text)
    log.Add(text)
    return
  endif
  told[text] = true
  Warning(text)
enddef

def Show(text: string, highlight: string)
  log.Add(text)
  const line = 'outrigger: ' .. InALine(text)
  const room = &columns - 12
  const is_long = strdisplaywidth(line) > room
  if is_long || mode() =~# '^[iR]'
    PopUp(line)
  endif
  execute 'echohl' highlight
  echomsg is_long ? line->strcharpart(0, room - 1) .. '…' : line
  echohl None
enddef

# Line breaks of our own are spaces; whatever else steers a screen is shown.
def InALine(text: string): string
  return texts.OneLine(text->substitute('\_s\+', ' ', 'g'))
enddef

def PopUp(line: string)
  const window = popup_notification(line, {time: NOTICE, maxwidth: min([60, &columns - 6])})
  win_execute(window, 'setlocal linebreak')
enddef
