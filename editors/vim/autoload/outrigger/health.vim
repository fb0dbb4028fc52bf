vim9script
# `:Outrigger health`: what is needed, what is there, and what to do about the difference.

import autoload './companion.vim'
import autoload './connection.vim'
import autoload './log.vim'
import autoload './status.vim'
import autoload './viewer.vim'
import autoload './workspace.vim'

export def Show()
  const lines = Report()
  viewer.Show('outrigger://health', lines)
  cursor(1, 1)
enddef

# One line for each thing, in the order in which they have to be right.
export def Report(): list<string>
  const command = connection.Command()
  const found = exepath(command[0])
  const folders = empty(companion.Folders()) ? workspace.Folders() : companion.Folders()
  const state = status.State() .. (status.State() == 'failed' ? ' (given up)' : '')
  const running = status.State() == 'running'
  const process = connection.IsRunning() ? $', process {connection.Pid()}' : ''
  const version = companion.Server()->get('version', '(has not said its version)')
  const agents = status.Get()->get('agents', [])
  const summary = status.Get()->get('summary', 'no agent is connected')
  const paused = status.Get()->get('paused', false)
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
    Line(running, $'companion is {state}{process}', ':Outrigger restart; the log is below'),
    Line(running, $'outrigger {version}', 'the plugin and the program have to be of one version'),
    Line(!empty(agents), summary, 'start one in the workspace: outrigger run -- qwen (or gemini)'),
  ] + Notes(agents) + [
    Line(!paused, paused ? 'paused: agents see nothing open' : 'not paused', ':Outrigger resume'),
  ] + Faults(status.Get()->get('faults', [])) + [
    '',
    'The newest lines of the log:',
  ] + log.Tail(20)
enddef

# What closes folders to agents, and where the mistakes are.
export def Faults(faults: list<dict<any>>): list<string>
  return faults->mapnew((_, fault) => {
    const place = fault.source .. (fault->has_key('line') ? $':{fault.line}:{fault.column}' : '')
    const folder = fault->get('folder', 'any folder')
    return Line(false, $'agents see nothing of {folder}', $'{place}: {fault.message}')
  })
enddef

# What a person should know about single agents.
def Notes(agents: list<any>): list<string>
  final notes: list<string> = []
  for agent in agents
    if agent->has_key('note')
      notes->add($'  !     {agent.label}: {agent.note}')
    endif
  endfor
  return notes
enddef

def Line(good: bool, what: string, advice: string): string
  return good ? $'  ok    {what}' : $'  !     {what}: {advice}'
enddef
