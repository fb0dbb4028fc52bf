vim9script
# The companion: starts it, starts it again when it ends by itself, stops it, and hands what it says
# to the file that it concerns.

import autoload './config.vim'
import autoload './connection.vim'
import autoload './daemon.vim'
import autoload './documents.vim'
import autoload './environment.vim'
import autoload './event.vim'
import autoload './log.vim'
import autoload './message.vim'
import autoload './proposals.vim'
import autoload './restart.vim'
import autoload './selection.vim'
import autoload './status.vim'
import autoload './workspace.vim'

# The version of the editor protocol that this plugin speaks.
const PROTOCOL = 1

var folders: list<string>
# Name and version of the program, once it has said so.
var server: dict<any>
# Unexpected ends in a row, when the last start was, and the timer of the next one.
var failures = 0
var started: list<number>
var again = -1
# Whether agents were paused when it ended. The next companion does not know of it.
var paused = false

# Starts it if this Vim is in a workspace and nothing was started yet. Called whenever that may be so.
export def Consider()
  if status.State() == 'stopped' && config.Get('autostart') && v:vim_did_enter
    const found = workspace.Folders()
    if !empty(found)
      Start(found)
    endif
  endif
enddef

# Starts it again, in any folder, because the person says so. The count of failures begins anew.
export def Restart()
  failures = 0
  # One that ends for good rejects what Gemini CLI has open, which could not be answered later. This one
  # must not.
  connection.Notify('outrigger/stop', {restart: true})
  Leave(() => {
    const found = empty(folders) ? workspace.Folders() : folders
    Start(empty(found) ? [getcwd()] : found)
  })
enddef

# Stops it, because the person says so. One that another editor is in goes on.
export def Stop()
  connection.Notify('outrigger/stop', {})
  Quit()
enddef

# Leaves it, because Vim closes. It waits for the next editor if agents are connected.
export def Quit()
  Leave(() => {
  })
  environment.Unset()
enddef

export def Folders(): list<string>
  return folders
enddef

export def Server(): dict<any>
  return server
enddef

# Sends a request, and calls `Done` with the result; without a companion, says so.
export def Request(method: string, params: dict<any>, Done: func)
  if status.State() != 'running'
    message.Error('the companion is not running; see :Outrigger health')
    return
  endif
  connection.Request(method, params, (response) => {
    if response->has_key('error')
      message.Error(response.error.message)
    else
      Done(response.result)
    endif
  })
enddef

def Leave(Then: func)
  timer_stop(again)
  status.SetState('stopped')
  if connection.IsRunning()
    Forget()
  endif
  connection.Stop(Then)
enddef

def Start(found: list<string>)
  if &encoding !=# 'utf-8'
    message.Once('the option encoding has to be utf-8')
    status.SetState('failed')
    return
  endif
  folders = found
  Launch()
enddef

def Launch()
  if connection.IsRunning()
    return
  endif
  started = reltime()
  if connection.Start(Handle, Ended)
    status.SetState(failures > 0 ? 'restarting' : 'starting')
    Initialize()
  else
    status.SetState('failed')
  endif
enddef

def Initialize()
  connection.Request('initialize', {
    processId: getpid(),
    clientInfo: {name: 'Vim', version: $'{v:version / 100}.{v:version % 100}'},
    workspaceFolders: folders->mapnew((_, folder) => documents.Folder(folder)),
    capabilities: {
      general: {positionEncodings: ['utf-8']},
      experimental: {outrigger: true},
    },
    initializationOptions: Options(),
  }, Initialized)
enddef

# What the person wants to be told to the companion. What is wrong in `daemon` is told to the person.
def Options(): dict<any>
  final options: dict<any> = copy(config.Get('options'))
  if options->has_key('daemon')
    const read = daemon.Read(options.daemon)
    options.daemon = read.sent
    for complaint in read.complaints
      message.Once(complaint)
    endfor
  endif
  return options
enddef

def Initialized(response: dict<any>)
  if response->has_key('error')
    GiveUp(response.error.message)
    return
  endif
  server = response.result->get('serverInfo', {})
  const offered = response.result.capabilities->get('experimental', {})->get('outrigger', {})
  if offered->get('version', 0) != PROTOCOL
    const name = server->get('version', 'of unknown version')
    GiveUp($'outrigger {name} is not for this plugin, which speaks version {PROTOCOL} of the '
      .. 'editor protocol; see :help outrigger-install')
    return
  endif
  connection.Notify('initialized', {})
  if paused
    # Before the first document is opened.
    connection.Notify('outrigger/pause', {paused: true})
  endif
enddef

def GiveUp(why: string)
  Stop()
  status.SetState('failed')
  message.Once(why)
  event.Fire('OutriggerStatus')
enddef

def Handle(content: dict<any>)
  const params = content->get('params', {})
  if content.method == 'outrigger/ready'
    Ready(params)
  elseif content.method == 'outrigger/status'
    paused = params.paused
    status.Set(params)
  elseif content.method == 'outrigger/proposal/open'
    proposals.Open(params)
    connection.Reply(content.id, {result: {opened: true}})
  elseif content.method == 'outrigger/proposal/text'
    connection.Reply(content.id, {result: proposals.TypedText(params.id)})
  elseif content.method == 'outrigger/proposal/close'
    connection.Reply(content.id, {result: proposals.Close(params)})
  elseif content.method == 'window/logMessage'
    log.Add(params.message)
  elseif content.method == 'window/showMessage'
    message.Warning(params.message)
  elseif content->has_key('id')
    connection.Reply(content.id, {error: {code: -32601, message: 'there is no ' .. content.method}})
  endif
enddef

def Ready(params: dict<any>)
  status.SetState('running')
  environment.Set(params.environment)
  documents.OpenAll()
  selection.Forget()
  Request('outrigger/proposal/list', {}, (listed) => proposals.KeepOnly(listed.proposals))
  event.Fire('OutriggerReady')
enddef

# The process is gone without having been told to.
def Ended(code: number)
  log.Add($'the companion ended with code {code}')
  Forget()
  const next = restart.AfterEnd(failures, reltime(started)->reltimefloat())
  failures = next.failures
  if next.wait < 0
    environment.Unset()
    status.SetState('failed')
    message.Warning('the companion ends again and again; see :Outrigger log, then :Outrigger restart')
    return
  endif
  status.SetState('restarting')
  if failures == 1
    message.Warning('the companion ended unexpectedly and is started again; see :Outrigger log')
  endif
  again = timer_start(next.wait, (_) => Launch())
enddef

# What the process knew and said is gone with it.
def Forget()
  status.Forget()
  documents.Forget()
  proposals.Forget()
  event.Fire('OutriggerEnd')
enddef
