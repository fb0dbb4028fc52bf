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

# How often to look whether a command was typed to its end, in milliseconds.
const PAUSE = 50

# The pending proposals by number, as review.vim shows them; `decided` once the person has decided.
# `typed` is what they had made of the text when its diff was closed without being over, `told` what the
# companion knows of that, and `warned` what the person was told about the file. `lost` says that the
# companion was started again and does not know this revision: it knows the first one only.
var pending: dict<dict<any>>
# The newest texts of proposals that wait until a command was typed to its end, by number. An older one
# that came later would make every verdict stale. `looking` says that a timer runs for them.
var waiting: dict<dict<any>>
var looking = false

# An agent proposes something, or the companion is back and opens it again.
export def Open(proposal: dict<any>)
  if pending->has_key(proposal.id) && pending[proposal.id].session ==# proposal.session
    waiting[proposal.id] = proposal
    ReviseWaiting()
    return
  endif
  DropWaiting(proposal.id)
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
  DropWaiting(over.id)
  const proposal = pending->remove(over.id)
  const accepted = over->get('outcome', '') == 'accepted' && proposal->has_key('original')
  if !proposal.decided && over->has_key('message')
    message.Notice(over.message)
  endif
  const last = review.IsShown(proposal) ? {text: review.Text(proposal)} : {}
  interrupt.Soon(() => review.Close(proposal))
  # What was accepted has the unsaved changes in it that the left side had.
  reload.Expect(proposal.path, accepted ? [proposal.original] : [])
  event.Fire('OutriggerClosed')
  return last
enddef

# The companion is about to send other texts; what the person has made of the present one.
export def TypedText(id: number): dict<string>
  if !pending->has_key(id)
    return {}
  endif
  const typed = Typed(pending[id])
  if empty(typed)
    return {}
  endif
  pending[id].told = typed[0]
  return {text: typed[0]}
enddef

# The companion is gone. What is pending comes again with the next one.
export def Forget()
  waiting = {}
  for proposal in pending->values()
    proposal.lost = proposal.revision > 1
    Drop(proposal, ['told'])
  endfor
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

# Accepts what the right side says.
export def Accept(id: number)
  const proposal = Find(id)
  if empty(proposal)
    return
  endif
  var verdict: dict<any> = {accepted: true}
  for text in Typed(proposal)
    verdict.text = text
  endfor
  Decide(proposal, verdict)
enddef

export def Reject(id: number)
  const proposal = Find(id)
  if !empty(proposal)
    Decide(proposal, {accepted: false})
  endif
enddef

# The person has edited the right side.
export def Edited(id: number)
  if pending->has_key(id) && &modified
    const proposal = pending[id]
    const update = {id: id, text: review.Text(proposal), revision: proposal.revision}
    connection.Notify('outrigger/proposal/update', update)
    if proposal->has_key('conflicts')
      review.Relabel(proposal)
    endif
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
      Decide(proposal, {accepted: false})
    endif
  endfor
enddef

# What the person has made of the text, in a list; an empty one if they have changed nothing.
def Typed(proposal: dict<any>): list<string>
  if review.IsShown(proposal)
    return review.IsEdited(proposal) ? [review.Text(proposal)] : []
  endif
  return proposal->has_key('typed') ? [proposal.typed] : []
enddef

def Decide(proposal: dict<any>, verdict: dict<any>)
  if status.State() != 'running'
    message.Error('the companion is not running, so nothing was decided')
    return
  endif
  proposal.decided = true
  if verdict->has_key('text')
    proposal.typed = verdict.text
  endif
  review.Decided(proposal)
  const seen = verdict->extendnew({id: proposal.id, revision: proposal.revision})
  connection.Request('outrigger/proposal/verdict', seen, (response) => {
    if response->has_key('error')
      Undecided(proposal)
      message.Error(response.error.message)
    else
      message.Info(response.result.message)
    endif
  })
enddef

# The decision was not taken. `:wq` has closed the diff; then it comes back as it was.
def Undecided(proposal: dict<any>)
  proposal.decided = false
  if review.IsShown(proposal)
    Drop(proposal, ['typed'])
    review.Undecided(proposal)
  else
    interrupt.Soon(() => {
      # The left side may still be there.
      review.Close(proposal)
      Present(proposal.id, true)
    })
  endif
enddef

# Shows the texts that wait, unless the person types a command: `:w` means what they have seen.
def ReviseWaiting()
  if mode() =~# '^[cr]'
    if !looking
      looking = true
      timer_start(PAUSE, (_) => {
        looking = false
        ReviseWaiting()
      })
    endif
    return
  endif
  const newest = waiting
  waiting = {}
  for [id, new] in newest->items()
    if pending->has_key(id)
      Revise(new)
    endif
  endfor
enddef

# The companion has another text for a proposal. If the person has typed more than it knows, because they
# go on typing, that is brought into the new text first.
def Revise(new: dict<any>)
  const proposal = pending[new.id]
  const typed = Typed(proposal)
  if !empty(typed) && proposal->get('original', '') ==# new->get('original', '')
    Take(proposal, new, ['proposed'])
    if review.IsShown(proposal)
      review.Relabel(proposal)
    endif
  elseif empty(typed) || proposal->get('told', null_string) ==# typed[0]
    Replace(proposal, new)
  elseif proposal->get('lost', false)
    Replace(proposal, new)
    KeepApart(proposal, typed[0])
  else
    Bring(proposal, new, typed[0])
  endif
enddef

def Bring(proposal: dict<any>, new: dict<any>, typed: string)
  const update = {id: new.id, text: typed, revision: proposal.revision}
  const Failed = () => {
    Replace(proposal, new)
    KeepApart(proposal, typed)
  }
  connection.Request('outrigger/proposal/update', update, (updated) => {
    if updated->has_key('error')
      Failed()
      return
    endif
    connection.Request('outrigger/proposal/list', {}, (listed) => {
      for found in listed->get('result', {proposals: []}).proposals
        if found.id == new.id && pending->has_key(new.id)
          proposal.told = typed
          Revise(found)
        endif
      endfor
    })
  })
enddef

# Shows other texts of a proposal, where it is.
def Replace(proposal: dict<any>, new: dict<any>)
  const shown = review.IsShown(proposal)
  if shown
    # Before its revision is taken: a verdict must not name one that is not on the screen.
    review.Revise(proposal, new)
  endif
  Take(proposal, new, [])
  Drop(proposal, ['typed'])
  if shown
    review.Relabel(proposal)
    Warn(proposal)
  endif
enddef

# Takes over what the companion says of a proposal by now, but for these fields.
def Take(proposal: dict<any>, new: dict<any>, but_for: list<string>)
  Drop(proposal, ['stale', 'withheld', 'conflicts', 'draftHunks', 'original', 'told', 'lost'])
  proposal->extend(new->copy()->filter((key, _) => but_for->index(key) < 0))
enddef

def DropWaiting(id: number)
  waiting->filter((key, _) => str2nr(key) != id)
enddef

def Drop(proposal: dict<any>, keys: list<string>)
  proposal->filter((key, _) => keys->index(key) < 0)
enddef

# What was typed cannot be brought into the new text; it is where the person can paste it from.
def KeepApart(proposal: dict<any>, typed: string)
  setreg('"', typed)
  message.Notice($'{review.Name(proposal)} has changed too much for what you had typed; p puts your text')
enddef

# Says once that the file is not what the agent has read.
def Warn(proposal: dict<any>)
  const stale = proposal->get('stale', '')
  if stale != '' && stale !=# proposal->get('warned', '')
    message.Notice($'{review.Name(proposal)}: {stale}')
  endif
  proposal.warned = stale
enddef

# Shows a proposal, in front of the person or behind.
def Present(id: number, front: bool)
  if !pending->has_key(id) || review.IsShown(pending[id])
    return
  endif
  const proposal = pending[id]
  const typed = Typed(proposal)
  review.Open(proposal, front)
  if !empty(typed)
    review.SetText(proposal, typed[0])
    Drop(proposal, ['typed'])
  endif
  if front
    message.Info(review.Hint(proposal))
  else
    message.Notice($'{review.Describe(proposal)}: :Outrigger show {id}')
  endif
  Warn(proposal)
enddef

def Find(id: number): dict<any>
  if id == 0
    message.Error(empty(pending) ? 'no proposal is pending' : 'several are pending; name one: ' .. Ids()->join(', '))
  elseif !pending->has_key(id)
    message.Error($'there is no proposal {id}')
  endif
  return pending->get(id, {})
enddef
