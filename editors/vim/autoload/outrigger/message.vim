vim9script
# What the person is told, always in one line: a longer one would make Vim wait for Enter.

import autoload './log.vim'

# How long a notice stays, in milliseconds.
const NOTICE = 5000

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
  popup_notification('outrigger: ' .. text, {time: NOTICE})
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
  const line = 'outrigger: ' .. text->substitute('\_s\+', ' ', 'g')
  const room = &columns - 12
  execute 'echohl' highlight
  echomsg strdisplaywidth(line) > room ? line->strcharpart(0, room - 1) .. '…' : line
  echohl None
enddef
