vim9script
# The pipe to `outrigger lsp`: one process, its messages, and its end.
#
# Vim frames the messages (channel mode "lsp"). It takes a request of the other side for a response
# if the ids happen to be the same, so requests and responses are matched here. What the messages
# mean is no concern of this file.

import autoload './config.vim'
import autoload './log.vim'
import autoload './message.vim'

var process: job
# What is called with the response, by the id of the request.
var requests: dict<func>
var next = 1
var OnMessage: func
var OnEnd: func
var OnExited: func

# Starts the program unless it runs. `Handle` gets every request and notification, `Ended` the exit
# code when the program is gone without having been told to.
export def Start(Handle: func, Ended: func): bool
  if IsRunning()
    return true
  endif
  const command = Command()
  if !executable(command[0])
    message.Once($'there is no program {command[0]}; see :help outrigger-install')
    return false
  endif
  OnMessage = Handle
  OnEnd = Ended
  requests = {}
  process = job_start(command + ['lsp'], {
    in_mode: 'lsp',
    out_mode: 'lsp',
    err_mode: 'nl',
    noblock: 1,
    out_cb: Received,
    err_cb: (_, line) => log.Add(line),
    exit_cb: Exited,
  })
  return IsRunning()
enddef

# Ends the program; `Then` is called when it has exited.
export def Stop(Then: func)
  if !IsRunning()
    Then()
    return
  endif
  const exiting = process
  process = null_job
  requests = {}
  OnExited = Then
  ch_sendexpr(exiting, {id: 0, method: 'shutdown', params: {}})
  ch_sendexpr(exiting, {method: 'exit', params: {}})
enddef

export def IsRunning(): bool
  return process != null_job && job_status(process) == 'run'
enddef

# The process id of the program, or 0.
export def Pid(): number
  return IsRunning() ? job_info(process).process : 0
enddef

# The program as the person has set it.
export def Command(): list<string>
  const command = config.Get('command')
  return type(command) == v:t_list ? command : [command]
enddef

export def Notify(method: string, params: dict<any>)
  Send({method: method, params: params})
enddef

# `Done` gets the whole response, with `result` or `error`.
export def Request(method: string, params: dict<any>, Done: func)
  const id = next
  next += 1
  requests[id] = Done
  Send({id: id, method: method, params: params})
enddef

export def Reply(id: number, outcome: dict<any>)
  Send({id: id}->extend(outcome))
enddef

def Send(content: dict<any>)
  if !IsRunning()
    return
  endif
  try
    ch_sendexpr(process, content)
  catch /^Vim\%((\a\+)\)\=:E\%(630\|631\|906\)/
    # It has ended, and Exited is about to be called.
    log.Add(v:exception)
  endtry
enddef

def Received(channel: channel, content: dict<any>)
  if process == null_job || channel != job_getchannel(process)
    # The last messages of one that is exiting.
    return
  endif
  if content->has_key('method')
    OnMessage(content)
  elseif requests->has_key(content->get('id', 0))
    const Done = requests->remove(content.id)
    Done(content)
  endif
enddef

def Exited(job: job, code: number)
  if job != process
    OnExited()
    return
  endif
  process = null_job
  requests = {}
  OnEnd(code)
enddef
