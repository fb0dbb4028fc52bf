vim9script
# A program in place of `outrigger lsp` that only listens, for tests of what is sent to it.

import autoload 'outrigger/connection.vim'
import autoload 'outrigger/status.vim'

var heard = ''

# From now on the plugin would start this program.
export def Offer()
  heard = tempname()
  g:outrigger_command = ['sh', '-c', $'exec cat >> {heard}']
enddef

# Starts it, as if the companion were running.
export def Start()
  Offer()
  connection.Start((_) => {
  }, (_) => {
  })
  status.SetState('running')
enddef

# Everything with this method that was sent so far, as soon as there are `count` of it.
export def Sent(method: string, count: number): list<dict<any>>
  var found: list<dict<any>>
  for _ in range(500)
    found = Messages()->filter((_, content) => content.method == method)
    if len(found) >= count
      break
    endif
    sleep 10m
  endfor
  return found->mapnew((_, content) => content.params)
enddef

# Ends it, and waits until the plugin knows. It does not go by itself.
export def End(pid: number)
  system($'kill {pid}')
  for _ in range(500)
    if connection.Pid() != pid
      break
    endif
    sleep 10m
  endfor
enddef

# Leaves nothing of it.
export def Stop()
  if connection.IsRunning()
    End(connection.Pid())
  endif
  status.SetState('stopped')
  unlet g:outrigger_command
  delete(heard)
enddef

def Messages(): list<dict<any>>
  if !filereadable(heard)
    return []
  endif
  return readfile(heard, 'b')
    ->join("\n")
    ->split('Content-Length: \d\+\r\n\%([^\r]\+\r\n\)*\r\n')
    ->mapnew((_, content) => json_decode(content))
enddef
