vim9script
# Words for the person: messages, and the log behind `:Outrigger log`.

const MOST_LINES = 1000
const LOG = 'outrigger://log'
# How long a notice stays, in milliseconds.
const NOTICE = 5000

var lines: list<string>
var told: dict<bool>

# One line in the message area; never so long that Vim waits for Enter.
export def Info(text: string)
  Say(text, 'None')
enddef

export def Warning(text: string)
  Say(text, 'WarningMsg')
enddef

export def Error(text: string)
  Say(text, 'ErrorMsg')
enddef

# Above the text for a few seconds: what somebody who is typing would not see at the bottom.
export def Notice(text: string)
  Log(text)
  popup_notification('outrigger: ' .. text, {time: NOTICE})
enddef

# A warning, but once in the life of this Vim; what comes again is only logged.
export def Once(text: string)
  if told->has_key(text)
    Log(text)
    return
  endif
  told[text] = true
  Warning(text)
enddef

export def Log(text: string)
  for line in text->split("\n")
    lines->add(strftime('%H:%M:%S ') .. line)
  endfor
  if len(lines) > MOST_LINES
    lines->remove(0, len(lines) - MOST_LINES - 1)
  endif
enddef

# The newest lines of the log.
export def Tail(count: number): list<string>
  return lines[max([0, len(lines) - count]) :]
enddef

export def ShowLog()
  ShowPage(LOG, lines)
enddef

# Shows text that is only to be read, in a window of its own.
export def ShowPage(name: string, content: list<string>)
  const window = bufwinid(name)
  if window > 0
    win_gotoid(window)
  else
    const home = win_getid()
    execute 'silent keepalt botright new' fnameescape(name)
    setlocal buftype=nofile bufhidden=wipe noswapfile nobuflisted
    b:outrigger_home = home
    nnoremap <buffer> <silent> q <ScriptCmd>ClosePage()<CR>
  endif
  setlocal modifiable
  silent deletebufline('%', 1, '$')
  setline(1, empty(content) ? ['Nothing yet.'] : content)
  setlocal nomodifiable nomodified
  cursor(line('$'), 1)
enddef

# Back to the window that the person was in; Vim would choose one of the neighbours.
def ClosePage()
  const home = b:outrigger_home
  close
  win_gotoid(home)
enddef

def Say(text: string, highlight: string)
  Log(text)
  const line = 'outrigger: ' .. text->substitute('\_s\+', ' ', 'g')
  const room = &columns - 12
  execute 'echohl' highlight
  echomsg strdisplaywidth(line) > room ? line->strcharpart(0, room - 1) .. '…' : line
  echohl None
enddef
