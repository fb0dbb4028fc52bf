vim9script
# The pipe to `outrigger lsp`: one process, its messages, and its end.
#
# Vim frames the messages (channel mode "lsp"). It takes a request of the other side for an answer
# if the numbers happen to be the same, so questions and answers are matched here. What the
# messages mean is no concern of this file.

import autoload './tell.vim'

var process: job
var asked: dict<func>
var next = 1
var OnMessage: func
var OnEnd: func
var OnLeft: func

# Starts the program unless it runs. `Hear` gets every message that is no answer, `Ended` the exit
# code when the program is gone without having been told to.
export def Start(Hear: func, Ended: func): bool
  if IsRunning()
    return true
  endif
  const command = Command()
  if !executable(command[0])
    tell.Once($'there is no program {command[0]}; see :help outrigger-install')
    return false
  endif
  OnMessage = Hear
  OnEnd = Ended
  asked = {}
  process = job_start(command + ['lsp'], {
    in_mode: 'lsp',
    out_mode: 'lsp',
    err_mode: 'nl',
    noblock: 1,
    out_cb: Heard,
    err_cb: (_, line) => tell.Log(line),
    exit_cb: Gone,
  })
  return IsRunning()
enddef

# Ends the program; `Then` is called when it has left.
export def Stop(Then: func)
  if !IsRunning()
    Then()
    return
  endif
  const leaving = process
  process = null_job
  asked = {}
  OnLeft = Then
  ch_sendexpr(leaving, {id: 0, method: 'shutdown', params: {}})
  ch_sendexpr(leaving, {method: 'exit', params: {}})
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
  const command = get(g:, 'outrigger_command', 'outrigger')
  return type(command) == v:t_list ? command : [command]
enddef

export def Notify(method: string, params: dict<any>)
  Send({method: method, params: params})
enddef

# Asks; `Done` gets the whole answer, with `result` or `error`.
export def Request(method: string, params: dict<any>, Done: func)
  const id = next
  next += 1
  asked[id] = Done
  Send({id: id, method: method, params: params})
enddef

export def Reply(id: number, outcome: dict<any>)
  Send({id: id}->extend(outcome))
enddef

def Send(message: dict<any>)
  if !IsRunning()
    return
  endif
  try
    ch_sendexpr(process, message)
  catch /^Vim\%((\a\+)\)\=:E\%(630\|631\|906\)/
    # It is about to be known to be gone.
    tell.Log(v:exception)
  endtry
enddef

def Heard(channel: channel, message: dict<any>)
  if process == null_job || channel != job_getchannel(process)
    # The last words of one that is leaving.
    return
  endif
  if message->has_key('method')
    OnMessage(message)
  elseif asked->has_key(message->get('id', 0))
    const Done = asked->remove(message.id)
    Done(message)
  endif
enddef

def Gone(job: job, code: number)
  if job != process
    OnLeft()
    return
  endif
  process = null_job
  asked = {}
  OnEnd(code)
enddef
