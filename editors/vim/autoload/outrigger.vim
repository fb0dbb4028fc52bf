vim9script
# What other scripts may call; see |outrigger-functions|.

import autoload './outrigger/diagnostics.vim'
import autoload './outrigger/proposals.vim'
import autoload './outrigger/status.vim'

# A few words for 'statusline'; empty where nothing runs.
export def Statusline(): string
  return status.Line()
enddef

# What the companion said last: `agents`, `pending`, `heldBack`, `paused`, `faults`, and in words `summary` and
# `short`; empty without one.
export def Status(): dict<any>
  return status.Get()->deepcopy()
enddef

# The numbers of the pending proposals, oldest first.
export def Pending(): list<number>
  return proposals.Ids()
enddef

# Reports what a tool says about a buffer, as items of |setqflist()|. It replaces what was said before.
export def SetDiagnostics(buffer: number, items: list<dict<any>>)
  diagnostics.Report(buffer, items)
enddef
