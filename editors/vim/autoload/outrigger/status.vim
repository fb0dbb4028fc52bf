vim9script
# How things stand, in words: the state of the companion, and what it says of agents and proposals.
# The words are the same in all plugins and on the page, see editors/README.md.

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

# An agent with its version, and whether it is away.
export def Agent(agent: dict<any>): string
  return $'{agent.name} {agent.version}' .. (agent.connected ? '' : ' (away)')
enddef

# A status in one line.
export def Describe(it: dict<any>): string
  const agents = it.agents->mapnew((_, agent) => Agent(agent))
  const parts = [
    empty(agents) ? 'no agent connected' : agents->join(', '),
    $'{it.pending} pending',
    $'{it.heldBack} held back',
  ] + (it.paused ? ['paused'] : [])
  return parts->join('; ')
enddef

# A few characters for a status line; empty while nothing runs.
export def Line(): string
  if state == 'restarting' || state == 'failed'
    return $'[outrigger: {state}]'
  elseif state != 'running' || empty(status)
    return ''
  endif
  const agents = status.agents->copy()->filter((_, agent) => agent.connected)->len()
  const pending = status.pending > 0 ? $' {status.pending} pending' : ''
  return $'[outrigger: {status.paused ? "paused" : agents}{pending}]'
enddef
