vim9script
# `:Outrigger`: what can be typed, and what it does.

import autoload './health.vim'
import autoload './page.vim'
import autoload './review.vim'
import autoload './session.vim'
import autoload './tell.vim'

# With no words, the status.
export def Run(words: list<string>, bang: bool)
  const name = words->get(0, 'status')
  const commands = Commands()
  if !commands->has_key(name)
    tell.Error($'there is no :Outrigger {name}; there are ' .. commands->keys()->sort()->join(', '))
    return
  endif
  commands[name](words[1 :], bang)
enddef

export def Complete(lead: string, line: string, position: number): string
  const words = line->strpart(0, position)->split('\s\+', true)
  return (len(words) <= 2 ? Commands()->keys()->sort() : review.Pending())->join("\n")
enddef

def Commands(): dict<func>
  return {
    accept: (words, bang) => review.Accept(Number(words), bang),
    health: (words, bang) => health.Show(),
    log: (words, bang) => tell.ShowLog(),
    open: (words, bang) => page.Open(),
    pause: (words, bang) => Pause(true),
    reject: (words, bang) => review.Reject(Number(words)),
    restart: (words, bang) => session.Restart(),
    resume: (words, bang) => Pause(false),
    show: (words, bang) => review.Show(Number(words)),
    status: (words, bang) => Status(),
  }
enddef

# The proposal that is meant.
def Number(words: list<string>): number
  return empty(words) ? review.Current() : str2nr(words[0])
enddef

def Pause(paused: bool)
  session.Ask('outrigger/pause', {paused: paused}, (_) => {
    tell.Info(paused ? 'agents see nothing open until :Outrigger resume' : 'agents see what is open again')
  })
enddef

def Status()
  if session.Phase() != 'ready'
    tell.Info($'the companion is {session.Phase()}; see :Outrigger health')
    return
  endif
  session.Ask('outrigger/status', {}, (status) => {
    const agents = status.agents
      ->mapnew((_, agent) => $'{agent.name} {agent.version}' .. (agent.connected ? '' : ' (away)'))
    const parts = [
      empty(agents) ? 'no agent' : agents->join(', '),
      $'{status.pending} pending',
      $'{status.heldBack} held back',
    ] + (status.paused ? ['paused'] : [])
    tell.Info(parts->join(' · '))
  })
enddef
