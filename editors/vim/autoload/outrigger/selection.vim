vim9script
# Where the person is: the file in front of them, the cursor, what is selected.

import autoload './connection.vim'
import autoload './documents.vim'
import autoload './status.vim'

# The cursor is reported when it has rested for so many milliseconds.
const REST = 20

var resting = -1
# What was reported last.
var reported: dict<any>

# Something moved. A selection is reported at once. Everything else waits, so that a selection outlives
# the step into a terminal: on the way there Vim leaves Visual mode before it leaves the window.
export def Moved()
  if status.State() != 'running'
    return
  endif
  timer_stop(resting)
  if IsVisual(mode())
    Report()
  else
    resting = timer_start(REST, (_) => Report())
  endif
enddef

# Another companion runs, which knows nothing yet.
export def Forget()
  reported = {}
  Moved()
enddef

# What is selected, in lines and bytes counted from zero, from the top down; or the cursor.
export def Selections(): list<dict<any>>
  const [_, line, column, _, _] = getcurpos()
  if !IsVisual(mode())
    return [Span([line, column - 1], [line, column - 1])]
  endif
  const [_, other, start, _] = getpos('v')
  const kind = mode()->tr('sS' .. "\<C-S>", 'vV' .. "\<C-V>")
  if kind ==# 'V'
    return other <= line
      ? [Span([other, 0], [line, len(getline(line))])]
      : [Span([other, len(getline(other))], [line, 0])]
  elseif kind ==# 'v'
    const forward = other < line || (other == line && start <= column)
    return forward
      ? [Span([other, start - 1], [line, After(line, column)])]
      : [Span([other, After(other, start)], [line, column - 1])]
  endif
  return Block([line, other])
enddef

def Report()
  const buffer = bufnr()
  # In a terminal, on the command line, at a prompt: where the person was is still what counts.
  if status.State() != 'running' || mode() !~# "^[nivVsSR\<C-V>\<C-S>]" || !documents.IsFile(buffer)
    return
  endif
  documents.Flush(buffer)
  const file = {uri: documents.Uri(buffer)}
  const here = {textDocument: file, selections: Selections()}
  if here == reported
    return
  endif
  if reported->get('textDocument', {}) != file
    connection.Notify('textDocument/didFocus', {textDocument: file})
  endif
  connection.Notify('outrigger/selectionChanged', here)
  reported = here
enddef

def Block(ends: list<number>): list<dict<any>>
  const columns = [virtcol('v', true), virtcol('.', true)]
  const left = min([columns[0][0], columns[1][0]])
  const right = max([columns[0][1], columns[1][1]])
  const to_the_end = getcurpos()[4] == v:maxcol
  var spans: list<dict<any>>
  for line in range(min(ends), max(ends))
    const length = len(getline(line))
    if virtcol([line, '$']) > left
      const first = Column(line, left) - 1
      const last = to_the_end ? length : After(line, Column(line, right))
      spans->add(Span([line, first], [line, last]))
    endif
  endfor
  return empty(spans) ? [Span([line('.'), col('.') - 1], [line('.'), col('.') - 1])] : spans
enddef

# The first byte, counted from one, of the character in a column of the screen. Until patch
# 9.0.1665 virtcol2col() gave the last one.
def Column(line: number, screen: number): number
  const text = getline(line)
  return byteidx(text, charidx(text, virtcol2col(0, line, screen) - 1)) + 1
enddef

# The byte after the character at a column counted from one, if that one is selected too.
def After(line: number, column: number): number
  if &selection == 'exclusive' && mode()->tolower() ==# 'v'
    return column - 1
  endif
  const text = getline(line)
  return min([len(text), column - 1 + len(matchstr(text, '.', column - 1))])
enddef

def Span(anchor: list<number>, active: list<number>): dict<any>
  return {
    anchor: {line: anchor[0] - 1, character: anchor[1]},
    active: {line: active[0] - 1, character: active[1]},
  }
enddef

def IsVisual(mode: string): bool
  return mode =~# "^[vVsS\<C-V>\<C-S>]"
enddef
