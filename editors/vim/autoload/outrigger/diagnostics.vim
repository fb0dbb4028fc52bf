vim9script
# What the person's tools say about a buffer, as items of |setqflist()|. Vim has no place where all
# tools put it, so scripts hand it over with |outrigger#SetDiagnostics()|.

import autoload './connection.vim'
import autoload './documents.vim'

const SEVERITIES = {E: 1, W: 2, I: 3, N: 4}

# Reports what a tool says about a buffer; it replaces what was said before.
export def Report(buffer: number, items: list<dict<any>>)
  if !documents.IsFile(buffer)
    return
  endif
  connection.Notify('outrigger/diagnosticsChanged', {
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
