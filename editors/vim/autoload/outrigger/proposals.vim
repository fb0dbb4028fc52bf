vim9script
# The proposals that are pending: they come, are shown, are decided, and are over.
#
# Nothing here writes a file: the agent does, and then Vim loads it again.

import autoload './companion.vim'
import autoload './connection.vim'
import autoload './event.vim'
import autoload './interrupt.vim'
import autoload './message.vim'
import autoload './reload.vim'
import autoload './review.vim'
import autoload './status.vim'

# The pending proposals by number, as review.vim shows them; `decided` once the person has decided.
var pending: dict<dict<any>>

# An agent proposes something, or the companion is back and opens it again.
export def Open(proposal: dict<any>)
  if pending->has_key(proposal.id) && pending[proposal.id].session ==# proposal.session
    # The person may have edited it; the diff stays as it is.
    return
  endif
  pending[proposal.id] = proposal->copy()->extend({decided: false})
  interrupt.Await((front) => Present(proposal.id, front))
  event.Fire('OutriggerProposal')
enddef

# The proposal is over, whoever ended it. Puts the diff away; returns the text as the person left it.
# They are told unless it was their own decision.
export def Close(over: dict<any>): dict<string>
  if !pending->has_key(over.id)
    return {}
  endif
  const proposal = pending->remove(over.id)
  if !proposal.decided && over->has_key('message')
    message.Notice(over.message)
  endif
  const last = review.IsShown(proposal) ? {text: review.Text(proposal)} : {}
  interrupt.Soon(() => review.Close(proposal))
  reload.Expect(proposal.path)
  event.Fire('OutriggerClosed')
  return last
enddef

# The companion is back, and only these are pending.
export def KeepOnly(proposals: list<dict<any>>)
  const ids = proposals->mapnew((_, proposal) => proposal.id)
  for id in Ids()
    if ids->index(id) < 0
      Close({id: id})
    endif
  endfor
enddef

# The numbers of all pending proposals, oldest first.
export def Ids(): list<number>
  return pending->keys()->map((_, id) => str2nr(id))->sort('n')
enddef

# The proposal in the current tab page, else the only one, else 0.
export def Current(): number
  for id in Ids()
    if review.IsInFront(pending[id])
      return id
    endif
  endfor
  return len(pending) == 1 ? Ids()[0] : 0
enddef

# Goes to the diff of a proposal.
export def Show(id: number)
  const proposal = Find(id)
  if empty(proposal)
    return
  elseif review.IsShown(proposal)
    review.Focus(proposal)
  else
    Present(id, true)
  endif
enddef

# Accepts what the right side says. If the file has changed on disk meanwhile, only with `force`.
export def Accept(id: number, force: bool)
  const proposal = Find(id)
  if empty(proposal)
    return
  endif
  var verdict: dict<any> = {id: id, accepted: true}
  if review.IsShown(proposal)
    if !force && review.HasMoved(proposal)
      message.Error($'{review.Name(proposal)} has changed on disk since; add ! to accept all the same')
      return
    endif
    if review.IsEdited(proposal)
      verdict.text = review.Text(proposal)
    endif
  endif
  Decide(proposal, verdict)
enddef

export def Reject(id: number)
  const proposal = Find(id)
  if !empty(proposal)
    Decide(proposal, {id: id, accepted: false})
  endif
enddef

# The person has edited the right side.
export def Edited(id: number)
  if pending->has_key(id) && &modified
    connection.Notify('outrigger/proposal/update', {id: id, text: review.Text(pending[id])})
  endif
enddef

# A window is about to close; if it is the last one with a proposal, that rejects it.
export def WindowClosed(window: number)
  if v:exiting != v:null
    # It stays pending for the agent's terminal and for the next Vim.
    return
  endif
  for proposal in pending->values()
    if !proposal.decided && review.IsLastWindow(proposal, window)
      Decide(proposal, {id: proposal.id, accepted: false})
    endif
  endfor
enddef

def Decide(proposal: dict<any>, verdict: dict<any>)
  if status.State() != 'running'
    message.Error('the companion is not running, so nothing was decided')
    return
  endif
  proposal.decided = true
  review.Decided(proposal)
  connection.Request('outrigger/proposal/verdict', verdict, (response) => {
    if response->has_key('error')
      proposal.decided = false
      message.Error(response.error.message)
    else
      message.Info(response.result.message)
    endif
  })
enddef

# Shows a proposal, in front of the person or behind.
def Present(id: number, front: bool)
  if !pending->has_key(id) || review.IsShown(pending[id])
    return
  endif
  const proposal = pending[id]
  review.Open(proposal, front)
  if front
    message.Info(review.Hint(proposal))
  else
    message.Notice($'{review.Describe(proposal)}: :Outrigger show {id}')
  endif
  if proposal.dirty
    message.Warning($'{review.Name(proposal)} has changes that are not saved; they are on the left, and the agent does not know them')
  endif
enddef

def Find(id: number): dict<any>
  if id == 0
    message.Error(empty(pending) ? 'no proposal is pending' : 'several are pending; name one: ' .. Ids()->join(', '))
  elseif !pending->has_key(id)
    message.Error($'there is no proposal {id}')
  endif
  return pending->get(id, {})
enddef
