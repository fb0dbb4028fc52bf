vim9script
# Proposals as diffs: a tab page with the text as it is on the left and as it would be on the right.
#
# Writing the right side accepts what it says, closing it rejects. Nothing here writes the file:
# the agent does, and then Vim loads it again.

import autoload './calm.vim'
import autoload './link.vim'
import autoload './reload.vim'
import autoload './session.vim'
import autoload './tell.vim'
import autoload './text.vim'

# The proposals that are pending, by number. Once it is on the screen each has its two buffers,
# what the right one said at first, the window that the person was in, and the file as it was.
var reviews: dict<dict<any>>

# An agent proposes something, or the companion is back and tells of it again.
export def Open(proposal: dict<any>)
  if reviews->has_key(proposal.id) && reviews[proposal.id].session ==# proposal.session
    # The person may have edited it; the diff stays as it is.
    return
  endif
  reviews[proposal.id] = proposal->copy()
  calm.Soon(() => Present(proposal.id, WantsFocus()))
  session.Announce('OutriggerProposal')
enddef

# The proposal is over. Puts the diff away; the text as the person left it.
export def Close(id: number): dict<string>
  if !reviews->has_key(id)
    return {}
  endif
  const review = reviews[id]
  const last = IsShown(review) ? {text: text.Of(review.right)} : {}
  reviews->remove(id)
  calm.Soon(() => PutAway(review))
  reload.Expect(review.path)
  session.Announce('OutriggerClosed')
  return last
enddef

# The companion is back, and only these are pending.
export def KeepOnly(proposals: list<dict<any>>)
  const pending = proposals->mapnew((_, proposal) => proposal.id)
  for id in reviews->keys()->map((_, id) => str2nr(id))
    if pending->index(id) < 0
      Close(id)
    endif
  endfor
enddef

# The numbers of all pending proposals, oldest first.
export def Pending(): list<number>
  return reviews->keys()->map((_, id) => str2nr(id))->sort('n')
enddef

# The proposal in the current tab page, else the only one, else 0.
export def Current(): number
  for [id, review] in reviews->items()
    if IsShown(review) && tabpagebuflist()->index(review.right) >= 0
      return str2nr(id)
    endif
  endfor
  return len(reviews) == 1 ? str2nr(reviews->keys()[0]) : 0
enddef

# Goes to the diff of a proposal.
export def Show(id: number)
  const review = Find(id)
  if empty(review)
    return
  endif
  if IsShown(review)
    review.home = win_getid()
    win_gotoid(win_findbuf(review.right)[0])
  else
    Present(id, true)
  endif
enddef

# Accepts what the right side says. If the file has changed on disk meanwhile, only with `force`.
export def Accept(id: number, force: bool)
  const review = Find(id)
  if empty(review)
    return
  endif
  var verdict: dict<any> = {id: id, accepted: true}
  if IsShown(review)
    if !force && OnDisk(review.path) != review.disk
      tell.Error($'{Name(review)} has changed on disk since; add ! to accept all the same')
      return
    endif
    const now = text.Of(review.right)
    if now !=# review.text
      verdict.text = now
    endif
  endif
  Decide(review, verdict)
enddef

export def Reject(id: number)
  const review = Find(id)
  if !empty(review)
    Decide(review, {id: id, accepted: false})
  endif
enddef

# A window is about to close; if it is the last one with a proposal, that rejects it.
export def WindowClosed(window: number)
  if v:exiting != v:null
    # The question stays open for the agent's terminal and for the next Vim.
    return
  endif
  for review in reviews->values()
    if IsShown(review) && !review.decided && win_findbuf(review.right) == [window]
      Decide(review, {id: review.id, accepted: false})
    endif
  endfor
enddef

def Decide(review: dict<any>, verdict: dict<any>)
  if session.Phase() != 'ready'
    tell.Error('the companion is not running, so nothing was decided')
    return
  endif
  review.decided = true
  if IsShown(review)
    setbufvar(review.right, '&modified', false)
  endif
  link.Request('outrigger/proposal/verdict', verdict, (answer) => {
    if answer->has_key('error')
      review.decided = false
      tell.Error(answer.error.message)
    else
      const outcome = verdict.accepted ? 'accepted' : 'rejected'
      const later = answer.result.delivered ? '' : '; the agent will hear of it when it is back'
      tell.Info($'{Name(review)} {outcome}{later}')
    endif
  })
enddef

def Present(id: number, focus: bool)
  if !reviews->has_key(id) || IsShown(reviews[id])
    return
  endif
  const review = reviews[id]
  const home = win_getid()
  LayOut(review)
  review.home = home
  if focus
    Hint(review)
  else
    win_gotoid(home)
    tell.Notice($'{review.agent} proposes to change {Name(review)}: :Outrigger show {id}')
  endif
  if review.dirty
    tell.Warning($'{Name(review)} has changes that are not saved; they are on the left, and the agent does not know them')
  endif
enddef

def LayOut(review: dict<any>)
  const loaded = bufnr(review.path)
  const unsaved = review.dirty && loaded > 0 && bufloaded(loaded)
  tabnew
  review.right = Scratch($'outrigger://{review.id}/{Name(review)}', review.proposed, review.path)
  setlocal buftype=acwrite
  &l:modifiable = review->get('editable', true)
  nnoremap <buffer> <silent> ZZ <Cmd>wq<CR>
  const right = win_getid()
  leftabove vertical new
  const side = unsaved ? 'unsaved' : 'original'
  const before = unsaved ? text.Of(loaded) : review->get('original', '')
  review.left = Scratch($'outrigger://{review.id}/{side}/{Name(review)}', before, review.path)
  setlocal buftype=nofile nomodifiable readonly
  diffthis
  win_gotoid(right)
  diffthis
  cursor(review.hunks->get(0, {proposedStart: 0}).proposedStart + 1, 1)
  review.text = text.Of(review.right)
  review.disk = OnDisk(review.path)
  review.decided = false
  execute $'autocmd outrigger BufWriteCmd <buffer={review.right}> Write({review.id})'
  execute $'autocmd outrigger TextChanged,InsertLeave <buffer={review.right}> Update({review.id})'
enddef

# Makes the current, empty buffer one of ours; its number.
def Scratch(name: string, content: string, path: string): number
  execute 'silent keepalt file' fnameescape(name)
  setlocal bufhidden=wipe noswapfile nobuflisted
  text.Put(content)
  if exists('#filetypedetect#BufRead')
    execute 'silent doautocmd <nomodeline> filetypedetect BufRead' fnameescape(path)
  endif
  if exists('&winfixbuf')
    setlocal winfixbuf
  endif
  return bufnr()
enddef

# The person wrote the right side, or a copy of it under another name.
def Write(id: number)
  const file = expand('<afile>')
  if file ==# bufname()
    Accept(id, v:cmdbang)
  else
    writefile(text.Of(bufnr())->split("\n", true), file, 'b')
  endif
enddef

def Update(id: number)
  if reviews->has_key(id) && &modified
    link.Notify('outrigger/proposal/update', {id: id, text: text.Of(reviews[id].right)})
  endif
enddef

def PutAway(review: dict<any>)
  const shown = [review->get('left', 0), review->get('right', 0)]
    ->filter((_, buffer) => buffer > 0 && bufexists(buffer))
  const inside = tabpagebuflist()->copy()->filter((_, buffer) => shown->index(buffer) >= 0)
  if !empty(inside) && mode() =~# '^[iR]'
    stopinsert
  endif
  for buffer in shown
    execute 'silent bwipeout!' buffer
  endfor
  if !empty(inside)
    win_gotoid(review.home)
  endif
enddef

def Hint(review: dict<any>)
  const count = len(review.hunks)
  const what = !review->has_key('original') ? 'a new file' : count == 1 ? '1 hunk' : $'{count} hunks'
  tell.Info($'{review.agent}, {what}: :w accepts, :q rejects, do drops a hunk')
enddef

# The focus is not taken from somebody who types, nor from one who is deciding something.
def WantsFocus(): bool
  const wish = get(g:, 'outrigger_focus', 'auto')
  return wish == 'always'
    || (wish == 'auto' && mode(1) ==# 'n' && &buftype != 'terminal' && bufname() !~# '^outrigger://')
enddef

def Find(id: number): dict<any>
  if id == 0
    tell.Error(empty(reviews) ? 'nothing is pending' : 'which one? Pending are ' .. Pending()->join(', '))
  elseif !reviews->has_key(id)
    tell.Error($'there is no proposal {id}')
  endif
  return reviews->get(id, {})
enddef

def IsShown(review: dict<any>): bool
  return review->has_key('right') && bufloaded(review.right)
enddef

def Name(review: dict<any>): string
  return fnamemodify(review.path, ':~:.')
enddef

def OnDisk(path: string): list<string>
  return filereadable(path) ? readfile(path, 'b') : []
enddef
