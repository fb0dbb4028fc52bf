vim9script
# What is selected, in lines and bytes counted from zero.

import autoload 'outrigger/selection.vim'

var seen: list<dict<any>>

# Types keys and looks at the selection while they are the last ones typed.
def Selected(keys: string): list<list<number>>
  g:OutriggerLook = () => {
    seen = selection.Selections()
    return ''
  }
  feedkeys(keys .. "\<Cmd>call g:OutriggerLook()\<CR>\<Esc>", 'ntx')
  return seen->mapnew((_, span) => [
    span.anchor.line, span.anchor.character, span.active.line, span.active.character])
enddef

def g:Test_selections()
  for [keys, expected] in [
      ['gg0', [[0, 0, 0, 0]]],
      ['gg0l', [[0, 1, 0, 1]]],
      ['gg0lvl', [[0, 1, 0, 4]]],
      ['gg0lvjh', [[0, 1, 1, 1]]],
      ['ggj0vk', [[1, 1, 0, 0]]],
      ['ggV', [[0, 0, 0, 5]]],
      ['ggVj', [[0, 0, 1, 6]]],
      ['ggjVk', [[1, 6, 0, 0]]],
      ["gg0\<C-V>jl", [[0, 0, 0, 3], [1, 0, 1, 2]]],
      ["gg0l\<C-V>j$", [[0, 1, 0, 5], [1, 1, 1, 6]]],
      ['gg$', [[0, 4, 0, 4]]],
      ['ggv$', [[0, 0, 0, 5]]],
  ]
    new
    setline(1, ['aéb!', 'second', ''])
    assert_equal(expected, Selected(keys), keys)
    close!
  endfor
enddef

def g:Test_an_exclusive_selection_ends_before_the_cursor()
  new
  setline(1, 'second')
  set selection=exclusive
  assert_equal([[0, 0, 0, 2]], Selected('gg0vll'))
  set selection&
enddef
