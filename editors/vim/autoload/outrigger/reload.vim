vim9script
# Loads a file again after an agent has written it.
#
# Vim looks at files when it gets the focus; an agent in a terminal beside it, or inside it, gives
# no such sign. So a file that was just decided is looked at for a while. A buffer with unsaved
# changes is left as it is: a question of Vim's in the middle of something else would take the next
# key for its answer. Vim asks before it writes over the file. But if those are the changes that were
# merged into what the agent has written, nothing is lost.

import autoload './message.vim'
import autoload './text.vim'

const PAUSE = 200
const LOOKS = 100

# The text of a buffer that is part of what the agent writes, by buffer.
var merged: dict<string>

# The agent may write this file any moment. `accepted` has the text of the buffer that is part of it, if
# the person has accepted that.
export def Expect(path: string, accepted: list<string>)
  const buffer = At(path)
  if buffer > 0
    merged->filter((of, _) => str2nr(of) != buffer)
    if !empty(accepted)
      merged[buffer] = accepted[0]
    endif
    execute $'autocmd! outrigger FileChangedShell <buffer={buffer}>'
    execute $'autocmd outrigger FileChangedShell <buffer={buffer}> Choose()'
    timer_start(PAUSE, (_) => Look(buffer, LOOKS))
  endif
enddef

# The loaded buffer with the file at `path`. For `bufnr()` the path would be a pattern.
def At(path: string): number
  var loaded = getbufinfo({bufloaded: true})
  const found = loaded->filter((_, it) => it.name ==# path || resolve(it.name) ==# resolve(path))
  return empty(found) ? 0 : found[0].bufnr
enddef

# Whether a look at the file can only find a file. Vim would wait at a pipe that is in its place for
# somebody to write into it, and do nothing else.
def IsRegular(path: string): bool
  return getftype(resolve(fnamemodify(path, ':p'))) =~# '^\(file\)\?$'
enddef

def Look(buffer: number, looks: number)
  if !bufloaded(buffer)
    return
  endif
  if mode() =~# '^[nt]' && IsRegular(bufname(buffer))
    execute 'checktime' buffer
  endif
  if looks > 1
    timer_start(PAUSE, (_) => Look(buffer, looks - 1))
  else
    execute $'autocmd! outrigger FileChangedShell <buffer={buffer}>'
  endif
enddef

def Choose()
  const buffer = str2nr(expand('<abuf>'))
  const is_merged = merged->has_key(buffer) && text.IsSame(text.Of(buffer), merged[buffer])
  if v:fcs_reason == 'conflict' && !is_merged
    v:fcs_choice = ''
    message.Warning($'{expand("<afile>:~:.")} has other changes on disk now: :edit! loads them, :write! keeps yours')
  else
    v:fcs_choice = 'reload'
  endif
enddef
