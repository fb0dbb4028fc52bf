vim9script
# One proposal as a diff: a tab page with the text as it is on the left and as it would be on the
# right.
#
# A proposal is what the companion sent. While it is shown it also has its two buffers (`left`,
# `right`), the window that the person was in (`home`), and the `text` of the right side at first.

import autoload './proposals.vim'
import autoload './text.vim'

# The first line of a place that both have changed, and all the lines that mark it.
const CONFLICT = '^<\{7,} in the file now$'
const MARKERS = CONFLICT .. '\|^=\{7,}$\|^>\{7,} proposed$'

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

# Shows the texts of `new` in place of those of the proposal. The left side may be gone: the person can
# close it.
export def Revise(proposal: dict<any>, new: dict<any>)
  const modified = getbufvar(proposal.right, '&modified')
  Refill(proposal.right, new.proposed)
  setbufvar(proposal.right, '&modified', modified)
  proposal.text = text.Of(proposal.right)
  if bufloaded(proposal.left)
    Refill(proposal.left, new->get('original', ''))
  endif
  for window in win_findbuf(proposal.right)
    win_execute(window, 'diffupdate')
  endfor
enddef

# Makes the right side what the person had made of it before.
export def SetText(proposal: dict<any>, typed: string)
  text.PutInto(win_findbuf(proposal.right)[0], typed)
  setbufvar(proposal.right, '&modified', true)
enddef

# Says below the two sides what they are and how to decide, and marks what is in conflict.
export def Relabel(proposal: dict<any>)
  const conflicts = Conflicts(proposal)
  const how = (conflicts > 0 ? $'{conflicts} in conflict (]x), ' : '') .. ':w accepts, :q rejects'
  # What is too long is cut off at the end on the left, and at the beginning on the right.
  Label(proposal.left, Escape(LeftSide(proposal)) .. '%<%=%{outrigger#Statusline()}')
  Label(proposal.right, Escape($'{Proposes(proposal, how)} | {how}'))
  for window in win_findbuf(proposal.right)
    const marked = getmatches(window)->filter((_, match) => match->get('pattern', '') ==# MARKERS)
    if conflicts > 0 && empty(marked)
      matchadd('ErrorMsg', MARKERS, 10, -1, {window: window})
    elseif conflicts == 0 && !empty(marked)
      matchdelete(marked[0].id, window)
    endif
  endfor
enddef

# The person has decided, so that nothing is left to save.
export def Decided(proposal: dict<any>)
  if IsShown(proposal)
    setbufvar(proposal.right, '&modified', false)
  endif
enddef

# The decision was not taken: what the person wrote is unsaved again.
export def Undecided(proposal: dict<any>)
  setbufvar(proposal.right, '&modified', true)
enddef

export def Name(proposal: dict<any>): string
  return text.OneLine(fnamemodify(proposal.path, ':~:.'))
enddef

export def Who(proposal: dict<any>): string
  return text.OneLine(proposal->get('who', proposal.agent))
enddef

# Who proposes what, for somebody who does not see the diff.
export def Describe(proposal: dict<any>): string
  const what = proposal->has_key('original') ? 'a change to' : 'the new file'
  return $'{Who(proposal)} proposes {what} {Name(proposal)}'
enddef

# What to do, for somebody who sees it.
export def Hint(proposal: dict<any>): string
  const count = len(Hunks(proposal))
  const what = !proposal->has_key('original') ? 'a new file' : count == 1 ? '1 hunk' : $'{count} hunks'
  return $'{Who(proposal)}, {what}: :w accepts, :q rejects, do drops a hunk'
enddef

# The hunks of the right side as it was opened.
def Hunks(proposal: dict<any>): list<any>
  return proposal->get('draftHunks', proposal.hunks)
enddef

# Who proposes what. Two sessions of an agent are told apart as long as there is room for it beside `how`
# to decide; the left side has the name of the file too.
def Proposes(proposal: dict<any>, how: string): string
  const who = Who(proposal)
  const room = win_findbuf(proposal.right)->mapnew((_, window) => winwidth(window))->min()
  for words in [$'{Name(proposal)} as {who} proposes', $'{who} proposes']
    if strdisplaywidth($'{words} | {how}') <= room
      return words
    endif
  endfor
  return $'{Name(proposal)} as {proposal.agent} proposes'
enddef

def LeftSide(proposal: dict<any>): string
  const unsaved = proposal.dirty ? ' with your unsaved changes' : ''
  const stale = proposal->has_key('stale') ? $': {proposal.stale}' : ''
  const withheld = proposal->has_key('withheld') ? $': {proposal.withheld}' : ''
  return Name(proposal) .. unsaved .. stale .. withheld
enddef

# How many places the person has to resolve.
def Conflicts(proposal: dict<any>): number
  if !proposal->has_key('conflicts')
    return 0
  endif
  return getbufline(proposal.right, 1, '$')->filter((_, line) => line =~# CONFLICT)->len()
enddef

def Label(buffer: number, words: string)
  for window in win_findbuf(buffer)
    # In a window of another tab page `setwinvar()` sets no option.
    win_execute(window, $'&l:statusline = {string(words)}')
  endfor
enddef

def Escape(words: string): string
  return text.OneLine(words)->substitute('%', '%%', 'g')
enddef

# Fills a buffer anew, in place. Every window stays at the lines that it shows, as far as they are still
# there.
def Refill(buffer: number, content: string)
  const before = getbufline(buffer, 1, '$')
  var views: dict<dict<number>>
  for window in win_findbuf(buffer)
    views[window] = eval(win_execute(window, 'echo winsaveview()')->trim())
  endfor
  const modifiable = getbufvar(buffer, '&modifiable')
  text.PutInto(win_findbuf(buffer)[0], content)
  setbufvar(buffer, '&modifiable', modifiable)
  const after = getbufline(buffer, 1, '$')
  for [window, view] in views->items()
    const by = text.Moved(before, after, view.lnum) - view.lnum
    view.lnum += by
    view.topline = view.topline > 1 ? max([view.topline + by, 1]) : 1
    win_execute(str2nr(window), $'call winrestview({string(view)})')
  endfor
enddef

def LayOut(proposal: dict<any>)
  tabnew
  proposal.right = Scratch($'outrigger://{proposal.id}/{Name(proposal)}', proposal.proposed, proposal.path)
  setlocal buftype=acwrite
  &l:modifiable = proposal->get('editable', true)
  nnoremap <buffer> <silent> ZZ <Cmd>wq<CR>
  execute $'nnoremap <buffer> <silent> ]x <Cmd>call search(''{CONFLICT}'', ''w'')<CR>'
  execute $'nnoremap <buffer> <silent> [x <Cmd>call search(''{CONFLICT}'', ''bw'')<CR>'
  const right = win_getid()
  leftabove vertical new
  const original = proposal->get('original', '')
  proposal.left = Scratch($'outrigger://{proposal.id}/original/{Name(proposal)}', original, proposal.path)
  setlocal buftype=nofile nomodifiable readonly
  diffthis
  win_gotoid(right)
  diffthis
  cursor(Hunks(proposal)->get(0, {proposedStart: 0}).proposedStart + 1, 1)
  proposal.text = text.Of(proposal.right)
  Relabel(proposal)
  execute $'autocmd outrigger BufWriteCmd <buffer={proposal.right}> Written({proposal.id})'
  execute $'autocmd outrigger TextChanged,InsertLeave <buffer={proposal.right}> proposals.Edited({proposal.id})'
enddef

# Makes the current, empty buffer one of ours; its number.
def Scratch(name: string, content: string, path: string): number
  execute 'silent keepalt file' fnameescape(name)
  # Before there is a text: what an agent writes sets no options.
  setlocal bufhidden=wipe noswapfile nobuflisted nomodeline
  text.Put(content)
  if exists('#filetypedetect#BufRead')
    # A line break in a path would begin another command.
    execute 'silent doautocmd <nomodeline> filetypedetect BufRead' fnameescape(text.OneLine(path))
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
    proposals.Accept(id)
  else
    writefile(text.Of(bufnr())->split("\n", true), file, 'b')
  endif
enddef
