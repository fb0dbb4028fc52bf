vim9script
# A window with lines that are only to be read: the log, the health report.

# Shows `content` in the window of that name, which is made if need be.
export def Show(name: string, content: list<string>)
  const window = bufwinid(name)
  if window > 0
    win_gotoid(window)
  else
    const home = win_getid()
    execute 'silent keepalt botright new' fnameescape(name)
    setlocal buftype=nofile bufhidden=wipe noswapfile nobuflisted
    b:outrigger_home = home
    nnoremap <buffer> <silent> q <ScriptCmd>Close()<CR>
  endif
  setlocal modifiable
  silent deletebufline('%', 1, '$')
  setline(1, empty(content) ? ['Nothing yet.'] : content)
  setlocal nomodifiable nomodified
  cursor(line('$'), 1)
enddef

# Back to the window that the person was in; Vim would choose one of the neighbours.
def Close()
  const home = b:outrigger_home
  close
  win_gotoid(home)
enddef
