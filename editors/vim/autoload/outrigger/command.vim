vim9script
# `:Outrigger`: what can be typed, and what it does.

import autoload './companion.vim'
import autoload './health.vim'
import autoload './log.vim'
import autoload './message.vim'
import autoload './page.vim'
import autoload './proposals.vim'
import autoload './status.vim'

# With no words, the status.
export def Run(words: list<string>)
  const name = words->get(0, 'status')
  const commands = Commands()
  if !commands->has_key(name)
    message.Error($'there is no :Outrigger {name}; there are ' .. commands->keys()->sort()->join(', '))
    return
  endif
  commands[name](words[1 :])
enddef

export def Complete(lead: string, line: string, position: number): string
  const words = line->strpart(0, position)->split('\s\+', true)
  return (len(words) <= 2 ? Commands()->keys()->sort() : proposals.Ids())->join("\n")
enddef

def Commands(): dict<func>
  return {
    accept: (words) => proposals.Accept(Number(words)),
    health: (words) => health.Show(),
    log: (words) => log.Show(),
    open: (words) => page.Open(),
    pause: (words) => Pause(true),
    reject: (words) => proposals.Reject(Number(words)),
    restart: (words) => companion.Restart(),
    resume: (words) => Pause(false),
    show: (words) => proposals.Show(Number(words)),
    status: (words) => Status(),
  }
enddef

# The proposal that is meant.
def Number(words: list<string>): number
  return empty(words) ? proposals.Current() : str2nr(words[0])
enddef

def Pause(paused: bool)
  companion.Request('outrigger/pause', {paused: paused}, (_) => {
    message.Info(paused ? 'paused: agents see nothing open' : 'resumed: agents see what is open')
  })
enddef

def Status()
  if status.State() != 'running'
    message.Info($'the companion is {status.State()}; see :Outrigger health')
    return
  endif
  companion.Request('outrigger/status', {}, (now) => message.Info(now.summary))
enddef
