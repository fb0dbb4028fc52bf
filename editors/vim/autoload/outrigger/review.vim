vim9script
# One proposal as a diff: a tab page with the text as it is on the left and as it would be on the
# right.
#
# A proposal is what the companion sent. While it is shown it also has its two buffers (`left`,
# `right`), the window that the person was in (`home`), the `text` of the right side at first, and
# the file as it was then (`disk`).

import autoload './proposals.vim'
import autoload './text.vim'

# Shows a proposal, and goes there if it is to be in `front`.
export def Open(proposal: dict<any>, front: bool)
  const home = win_getid()
  LayOut(proposal)
  proposal.home = home
  if !front
    win_gotoid(home)
  endif
enddef

# Puts it away, and the person back where they were if they are still looking at it.
export def Close(proposal: dict<any>)
  const buffers = [proposal->get('left', 0), proposal->get('right', 0)]
    ->filter((_, buffer) => buffer > 0 && bufexists(buffer))
  const inside = tabpagebuflist()->copy()->filter((_, buffer) => buffers->index(buffer) >= 0)
  if !empty(inside) && mode() =~# '^[iR]'
    stopinsert
  endif
  for buffer in buffers
    execute 'silent bwipeout!' buffer
  endfor
  if !empty(inside)
    win_gotoid(proposal.home)
  endif
enddef

# Goes to its right side.
export def Focus(proposal: dict<any>)
  proposal.home = win_getid()
  win_gotoid(win_findbuf(proposal.right)[0])
enddef

export def IsShown(proposal: dict<any>): bool
  return proposal->has_key('right') && bufloaded(proposal.right)
enddef

# Whether it is in the current tab page.
export def IsInFront(proposal: dict<any>): bool
  return IsShown(proposal) && tabpagebuflist()->index(proposal.right) >= 0
enddef

# Whether `window` is the only one that shows its right side.
export def IsLastWindow(proposal: dict<any>, window: number): bool
  return IsShown(proposal) && win_findbuf(proposal.right) == [window]
enddef

# What the right side says.
export def Text(proposal: dict<any>): string
  return text.Of(proposal.right)
enddef

# Whether the person has made something else of the right side.
export def IsEdited(proposal: dict<any>): bool
  return Text(proposal) !=# proposal.text
enddef

# Whether the file has changed on disk since the diff was opened.
export def HasMoved(proposal: dict<any>): bool
  return OnDisk(proposal.path) != proposal.disk
enddef

# The person has decided, so that nothing is left to save.
export def Decided(proposal: dict<any>)
  if IsShown(proposal)
    setbufvar(proposal.right, '&modified', false)
  endif
enddef

export def Name(proposal: dict<any>): string
  return fnamemodify(proposal.path, ':~:.')
enddef

# Who proposes what, for somebody who does not see the diff.
export def Describe(proposal: dict<any>): string
  const what = proposal->has_key('original') ? 'a change to' : 'the new file'
  return $'{proposal.agent} proposes {what} {Name(proposal)}'
enddef

# What to do, for somebody who sees it.
export def Hint(proposal: dict<any>): string
  const count = len(Hunks(proposal))
  const what = !proposal->has_key('original') ? 'a new file' : count == 1 ? '1 hunk' : $'{count} hunks'
  return $'{proposal.agent}, {what}: :w accepts, :q rejects, do drops a hunk'
enddef

# The hunks of the right side as it was opened.
def Hunks(proposal: dict<any>): list<any>
  return proposal->get('draftHunks', proposal.hunks)
enddef

def LayOut(proposal: dict<any>)
  const loaded = bufnr(proposal.path)
  const unsaved = proposal.dirty && loaded > 0 && bufloaded(loaded)
  tabnew
  proposal.right = Scratch($'outrigger://{proposal.id}/{Name(proposal)}', proposal.proposed, proposal.path)
  setlocal buftype=acwrite
  &l:modifiable = proposal->get('editable', true)
  nnoremap <buffer> <silent> ZZ <Cmd>wq<CR>
  const right = win_getid()
  leftabove vertical new
  const side = unsaved ? 'unsaved' : 'original'
  const before = unsaved ? text.Of(loaded) : proposal->get('original', '')
  proposal.left = Scratch($'outrigger://{proposal.id}/{side}/{Name(proposal)}', before, proposal.path)
  setlocal buftype=nofile nomodifiable readonly
  diffthis
  win_gotoid(right)
  diffthis
  cursor(Hunks(proposal)->get(0, {proposedStart: 0}).proposedStart + 1, 1)
  proposal.text = text.Of(proposal.right)
  proposal.disk = OnDisk(proposal.path)
  execute $'autocmd outrigger BufWriteCmd <buffer={proposal.right}> Written({proposal.id})'
  execute $'autocmd outrigger TextChanged,InsertLeave <buffer={proposal.right}> proposals.Edited({proposal.id})'
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
def Written(id: number)
  const file = expand('<afile>')
  if file ==# bufname()
    proposals.Accept(id, v:cmdbang)
  else
    writefile(text.Of(bufnr())->split("\n", true), file, 'b')
  endif
enddef

def OnDisk(path: string): list<string>
  return filereadable(path) ? readfile(path, 'b') : []
enddef
