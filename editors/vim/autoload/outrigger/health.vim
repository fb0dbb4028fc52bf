vim9script
# `:Outrigger health`: what is needed, what is there, and what to do about the difference.

import autoload './link.vim'
import autoload './session.vim'
import autoload './tell.vim'
import autoload './workspace.vim'

export def Show()
  const page = Report()
  tell.ShowPage('outrigger://health', page)
  cursor(1, 1)
enddef

# One line for each thing, in the order in which they have to be right.
export def Report(): list<string>
  const command = link.Command()
  const found = exepath(command[0])
  const folders = empty(session.Folders()) ? workspace.Folders() : session.Folders()
  const ready = session.Phase() == 'ready'
  const process = link.IsRunning() ? $', process {link.Pid()}' : ''
  const version = session.Server()->get('version', '(has not said its version)')
  const status = session.Status()
  const agents = status->get('agents', [])->mapnew((_, agent) => $'{agent.name} {agent.version}')
  const paused = status->get('paused', false)
  return [
    'outrigger',
    '',
    Line(has('channel') && has('job') && has('diff'), $'Vim {v:versionlong}',
      'needs +channel, +job and +diff; install a full Vim'),
    Line(&encoding ==# 'utf-8', $'encoding is {&encoding}', 'set encoding=utf-8 in your vimrc'),
    Line(found != '', found == '' ? $'no program {command[0]}' : $'program {found}',
      'install it (:help outrigger-install), or set g:outrigger_command'),
    Line(!empty(folders), empty(folders) ? 'no workspace here' : $'workspace {folders->join(", ")}',
      ':Outrigger restart uses the current folder; or set g:outrigger_folders'),
    Line(ready, $'companion is {session.Phase()}{process}', ':Outrigger restart; the log is below'),
    Line(ready, $'outrigger {version}', 'the plugin and the program have to be of one version'),
    Line(!empty(agents), empty(agents) ? 'no agent is connected' : $'connected: {agents->join(", ")}',
      'start one in the workspace'),
    Line(!paused, paused ? 'paused' : 'not paused', ':Outrigger resume'),
    '',
    'The newest lines of the log:',
  ] + tell.Tail(20)
enddef

def Line(good: bool, what: string, advice: string): string
  return good ? $'  ok    {what}' : $'  !     {what}: {advice}'
enddef
