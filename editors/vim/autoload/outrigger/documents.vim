vim9script
# The buffers that are files, and their texts as the companion has them.
#
# Only what changed is sent: the lines between the first and the last change since the last time,
# so that typing costs the same in a large file as in a small one.

import autoload './config.vim'
import autoload './connection.vim'
import autoload './text.vim'
import autoload './uri.vim'

# The buffers that the companion knows: address, version, number of lines there, listener.
var known: dict<dict<any>>

# Opens every file that is loaded.
export def OpenAll()
  for info in getbufinfo({bufloaded: 1})
    Read(info.bufnr)
  endfor
enddef

# A buffer was loaded, loaded again, or has another name.
export def Read(buffer: number)
  if known->has_key(buffer)
    if IsText(buffer) && known[buffer].uri ==# Uri(buffer)
      SendWhole(buffer)
      return
    endif
    Close(buffer)
  endif
  if IsText(buffer)
    Open(buffer)
  endif
enddef

export def Saved(buffer: number)
  if known->has_key(buffer)
    listener_flush(buffer)
    connection.Notify('textDocument/didSave', Named(buffer))
  elseif bufloaded(buffer)
    # A new file, or one that was too large until now.
    Read(buffer)
  endif
enddef

export def Close(buffer: number)
  if known->has_key(buffer)
    listener_remove(known[buffer].listener)
    connection.Notify('textDocument/didClose', Named(buffer))
    known->remove(buffer)
  elseif IsFile(buffer)
    connection.Notify('textDocument/didClose', Named(buffer))
  endif
enddef

# The companion is gone, and with it what it knew.
export def Forget()
  for document in known->values()
    listener_remove(document.listener)
  endfor
  known = {}
enddef

# Whether agents may hear that the person is in this buffer: a file on this machine, and text.
export def IsFile(buffer: number): bool
  const name = bufname(buffer)
  return name != ''
    && name !~# '^\a[a-zA-Z0-9+.-]\+:[/\\]'
    && getbufvar(buffer, '&buftype') == ''
    && !getbufvar(buffer, '&binary')
    && !isdirectory(Path(buffer))
enddef

export def Uri(buffer: number): string
  return uri.Of(Path(buffer))
enddef

# A folder as the protocol writes it.
export def Folder(path: string): dict<string>
  return {uri: uri.Of(path), name: fnamemodify(path, ':t')}
enddef

# Sends what has changed in a buffer and was not sent yet.
export def Flush(buffer: number)
  if known->has_key(buffer)
    listener_flush(buffer)
  endif
enddef

# Changes of a listener as one. Each is in line numbers of its own time; together they are the lines
# from the first of these numbers to before the second one then, and to before the third one now.
export def Merge(changes: list<dict<number>>): list<number>
  var [first, old, new] = [changes[0].lnum, changes[0].end, changes[0].end + changes[0].added]
  for change in changes[1 :]
    first = min([first, change.lnum])
    const more = max([0, change.end - new])
    old += more
    new += more + change.added
  endfor
  return [first, old, new]
enddef

def Open(buffer: number)
  const lines = getbufline(buffer, 1, '$')
  known[buffer] = {
    uri: Uri(buffer),
    lines: len(lines),
    listener: listener_add(Changed, buffer),
  }
  const language = getbufvar(buffer, '&filetype')
  connection.Notify('textDocument/didOpen', {textDocument: {
    uri: known[buffer].uri,
    languageId: language == '' ? 'plaintext' : language,
    version: Version(buffer),
    text: text.Join(lines),
  }})
  if getbufvar(buffer, '&modified')
    # No change but this: there is something that is not saved.
    SendChanges(buffer, [])
  endif
enddef

def Changed(buffer: number, start: number, end: number, added: number, changes: list<dict<number>>)
  if !known->has_key(buffer)
    return
  endif
  const [first, old, new] = Merge(changes)
  const document = known[buffer]
  document.lines += new - old
  if document.lines != getbufinfo(buffer)[0].linecount
    SendWhole(buffer)
    return
  endif
  const there = {
    start: {line: first - 1, character: 0},
    end: {line: old - 1, character: 0},
  }
  const lines = getbufline(buffer, first, new - 1)
  SendChanges(buffer, [{range: there, text: text.Join(lines)}])
enddef

def SendWhole(buffer: number)
  const lines = getbufline(buffer, 1, '$')
  known[buffer].lines = len(lines)
  SendChanges(buffer, [{text: text.Join(lines)}])
enddef

def SendChanges(buffer: number, changes: list<dict<any>>)
  connection.Notify('textDocument/didChange', {
    textDocument: {uri: known[buffer].uri, version: Version(buffer)},
    contentChanges: changes,
  })
  if !getbufvar(buffer, '&modified')
    # Undone, or loaded again: the same as on disk.
    connection.Notify('textDocument/didSave', Named(buffer))
  endif
enddef

def IsText(buffer: number): bool
  const limit = config.Get('max_size')
  return connection.IsRunning() && bufloaded(buffer) && IsFile(buffer) && getfsize(Path(buffer)) <= limit
enddef

def Named(buffer: number): dict<any>
  return {textDocument: {uri: known->get(buffer, {})->get('uri', Uri(buffer))}}
enddef

def Path(buffer: number): string
  return fnamemodify(bufname(buffer), ':p')
enddef

def Version(buffer: number): number
  return getbufvar(buffer, 'changedtick')
enddef
