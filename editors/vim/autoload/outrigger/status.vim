vim9script
# How things stand: the state of the companion, and what it says of agents and proposals. The words for
# that are its own.

import autoload './event.vim'

# stopped, starting, running, restarting or failed.
var state = 'stopped'
# What the companion said last; empty while none runs.
var status: dict<any>

export def SetState(new: string)
  state = new
  redrawstatus!
enddef

export def State(): string
  return state
enddef

export def Set(new: dict<any>)
  status = new
  event.Fire('OutriggerStatus')
enddef

export def Get(): dict<any>
  return status
enddef

# The companion is gone, and what it said with it.
export def Forget()
  status = {}
enddef

# A few words for a status line; empty while nothing runs.
export def Line(): string
  if state == 'restarting' || state == 'failed'
    return $'[outrigger: {state}]'
  endif
  return state == 'running' && !empty(status) ? $'[outrigger: {status.short}]' : ''
enddef
