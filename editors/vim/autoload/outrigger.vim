vim9script
# What other scripts may call; see |outrigger-functions|.

import autoload './outrigger/documents.vim'
import autoload './outrigger/link.vim'
import autoload './outrigger/review.vim'
import autoload './outrigger/session.vim'

const SEVERITIES = {E: 1, W: 2, I: 3, N: 4}

# A few characters for 'statusline'; nothing where nothing runs.
export def Statusline(): string
  var status = session.Status()
  if session.Phase() != 'ready' || empty(status)
    return session.Phase() == 'failed' ? '[outrigger: failed]' : ''
  endif
  const agents = status.agents->copy()->filter((_, agent) => agent.connected)->len()
  const pending = status.pending > 0 ? $' {status.pending} pending' : ''
  return $'[outrigger: {status.paused ? "paused" : agents}{pending}]'
enddef

# What the companion said last: `agents`, `pending`, `heldBack`, `paused`; empty without one.
export def Status(): dict<any>
  return session.Status()->deepcopy()
enddef

# The numbers of the pending proposals, oldest first.
export def Pending(): list<number>
  return review.Pending()
enddef

# Tells what a tool says about a buffer, as items of |setqflist()|. It replaces what was said before.
export def SetDiagnostics(buffer: number, items: list<dict<any>>)
  if !documents.IsFile(buffer)
    return
  endif
  link.Notify('outrigger/diagnosticsChanged', {
    uri: documents.Uri(buffer),
    diagnostics: items->mapnew((_, item) => Diagnostic(item)),
  })
enddef

def Diagnostic(item: dict<any>): dict<any>
  const [line, column] = [item->get('lnum', 1), item->get('col', 1)]
  const last = max([line, item->get('end_lnum', 0)])
  const end = item->get('end_col', 0)
  return {
    range: {
      start: Position(line, column),
      end: Position(last, last == line ? max([end, column + 1]) : end),
    },
    severity: SEVERITIES->get(item->get('type', 'E')->toupper(), 1),
    message: item->get('text', ''),
  }
enddef

def Position(line: number, column: number): dict<number>
  return {line: max([0, line - 1]), character: max([0, column - 1])}
enddef
