vim9script
# The conversation with the companion: how it begins, what it says of itself, how it ends.

import autoload './cursor.vim'
import autoload './documents.vim'
import autoload './link.vim'
import autoload './review.vim'
import autoload './tell.vim'
import autoload './workspace.vim'

# The version of the protocol that this plugin speaks.
const VERSION = 1

# The companion is given up after so many ends in a row. Each pause, in milliseconds, is twice as
# long as the one before.
const MOST_FAILURES = 7
const FIRST_PAUSE = 100
# Whatever has lived for so many seconds was no failure.
const STEADY = 60

var folders: list<string>
# off, starting, ready, waiting (it ended and is about to start again), or failed.
var phase = 'off'
var status: dict<any>
var server: dict<any>
var environment: list<string>
var failures = 0
var started: list<number>
var again = -1

# Begins if this Vim is in a workspace and nothing runs yet. Called whenever that may be so.
export def Begin()
  if phase == 'off' && get(g:, 'outrigger_autostart', true) && v:vim_did_enter
    const found = workspace.Folders()
    if !empty(found)
      Start(found)
    endif
  endif
enddef

# Begins anew, in any folder, because the person says so.
export def Restart()
  failures = 0
  Leave(() => {
    const found = empty(folders) ? workspace.Folders() : folders
    Start(empty(found) ? [getcwd()] : found)
  })
enddef

export def End()
  Leave(() => {
  })
enddef

export def Phase(): string
  return phase
enddef

export def Folders(): list<string>
  return folders
enddef

# What the companion said last about agents, proposals and itself.
export def Status(): dict<any>
  return status
enddef

# Name and version of the program, once it has said so.
export def Server(): dict<any>
  return server
enddef

# Asks the companion; without one, says so.
export def Ask(method: string, params: dict<any>, Done: func)
  if phase != 'ready'
    tell.Error('the companion is not running; :Outrigger health says why')
    return
  endif
  link.Request(method, params, (answer) => {
    if answer->has_key('error')
      tell.Error(answer.error.message)
    else
      Done(answer.result)
    endif
  })
enddef

# Lets others know.
export def Announce(event: string)
  if exists('#User#' .. event)
    execute 'doautocmd <nomodeline> User' event
  endif
  redrawstatus!
enddef

def Leave(Then: func)
  timer_stop(again)
  phase = 'off'
  if link.IsRunning()
    Lost()
  endif
  link.Stop(Then)
enddef

def Start(found: list<string>)
  if &encoding !=# 'utf-8'
    tell.Once('the option encoding has to be utf-8')
    phase = 'failed'
    return
  endif
  folders = found
  Launch()
enddef

def Launch()
  if link.IsRunning()
    return
  endif
  started = reltime()
  if link.Start(Hear, Ended)
    phase = 'starting'
    Initialize()
  else
    phase = 'failed'
  endif
enddef

def Initialize()
  link.Request('initialize', {
    processId: getpid(),
    clientInfo: {name: 'Vim', version: $'{v:version / 100}.{v:version % 100}'},
    workspaceFolders: folders->mapnew((_, folder) => documents.Folder(folder)),
    capabilities: {
      general: {positionEncodings: ['utf-8']},
      experimental: {outrigger: true},
    },
    initializationOptions: get(g:, 'outrigger_options', {}),
  }, Initialized)
enddef

def Initialized(answer: dict<any>)
  if answer->has_key('error')
    Fail(answer.error.message)
    return
  endif
  server = answer.result->get('serverInfo', {})
  const offered = answer.result.capabilities->get('experimental', {})->get('outrigger', {})
  if offered->get('version', 0) != VERSION
    const name = server->get('version', 'of unknown version')
    Fail($'outrigger {name} is not for this plugin, which speaks version {VERSION} of the '
      .. 'editor protocol; see :help outrigger-install')
    return
  endif
  link.Notify('initialized', {})
enddef

def Fail(why: string)
  End()
  phase = 'failed'
  tell.Once(why)
  Announce('OutriggerStatus')
enddef

def Hear(message: dict<any>)
  const params = message->get('params', {})
  if message.method == 'outrigger/ready'
    Ready(params)
  elseif message.method == 'outrigger/status'
    status = params
    Announce('OutriggerStatus')
  elseif message.method == 'outrigger/proposal/open'
    review.Open(params)
    link.Reply(message.id, {result: {opened: true}})
  elseif message.method == 'outrigger/proposal/close'
    link.Reply(message.id, {result: review.Close(params.id)})
  elseif message.method == 'window/logMessage'
    tell.Log(params.message)
  elseif message.method == 'window/showMessage'
    tell.Warning(params.message)
  elseif message->has_key('id')
    link.Reply(message.id, {error: {code: -32601, message: 'there is no ' .. message.method}})
  endif
enddef

def Ready(params: dict<any>)
  phase = 'ready'
  if get(g:, 'outrigger_environment', true)
    # Terminals of Vim inherit its own environment.
    environment = params.environment->keys()
    for [name, value] in params.environment->items()
      setenv(name, value)
    endfor
  endif
  documents.OpenAll()
  cursor.Restart()
  Ask('outrigger/proposal/list', {}, (listed) => review.KeepOnly(listed.proposals))
  Announce('OutriggerReady')
enddef

def Ended(code: number)
  tell.Log($'the companion ended with code {code}')
  Lost()
  failures = reltime(started)->reltimefloat() > STEADY ? 1 : failures + 1
  if failures < MOST_FAILURES
    phase = 'waiting'
    tell.Once('the companion ended and is started again; see :Outrigger log')
    again = timer_start(FIRST_PAUSE * float2nr(pow(2, failures - 1)), (_) => Launch())
  else
    phase = 'failed'
    tell.Warning('the companion ends again and again; :Outrigger log says why, :Outrigger restart tries again')
  endif
enddef

def Lost()
  for name in environment
    setenv(name, v:null)
  endfor
  environment = []
  status = {}
  documents.Forget()
  Announce('OutriggerEnd')
enddef
