vim9script
# A copy that follows the changes of a buffer never differs from it.

import autoload 'outrigger/documents.vim'

const EDITS = [
  "normal! ggdd",
  "normal! Gp",
  "normal! ggOfirst\<CR>second",
  "normal! Golast",
  ":2,4move $",
  ":3copy 0",
  ":%s/line/LINE/g",
  ":g/5/delete",
  ":g/LINE/move 0",
  ":undo",
  ":redo",
  "normal! ggVjJ",
  ":2,5!sort -r",
  ":%delete",
  "normal! ione\<CR>two\<CR>three",
]

var copy: list<string>

def Follow(buffer: number, start: number, end: number, added: number, changes: list<dict<number>>)
  const [first, old, new] = documents.Merge(changes)
  copy = copy->slice(0, first - 1) + getbufline(buffer, first, new - 1) + copy[old - 1 :]
enddef

def g:Test_changes_are_merged()
  for at_once in [1, 2, 5]
    new
    setline(1, range(1, 9)->mapnew((_, number) => $'line {number}'))
    copy = getline(1, '$')
    const listener = listener_add(Follow)
    var done = 0
    for edit in EDITS + EDITS->copy()->reverse()
      # Not every edit is possible in every text.
      execute 'silent!' edit
      done += 1
      if done % at_once == 0
        listener_flush()
        # All lines deleted is no line to the listener and an empty one to the buffer.
        assert_equal(getline(1, '$'), empty(copy) ? [''] : copy, $'after {edit}, {at_once} at once')
        copy = getline(1, '$')
      endif
    endfor
    listener_remove(listener)
    close!
  endfor
enddef
