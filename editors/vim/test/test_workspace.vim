vim9script
# Addresses, folders, and which buffers are files.

import autoload 'outrigger/documents.vim'
import autoload 'outrigger/uri.vim'
import autoload 'outrigger/workspace.vim'

def g:Test_paths_are_written_as_addresses()
  assert_equal('file:///a%20b/%C3%A9~.rs', uri.Of('/a b/é~.rs'))
  assert_equal('file:///a%25%23%3F', uri.Of('/a%#?'))
enddef

def g:Test_only_files_count()
  for [name, expected] in [
      ['/w/a.txt', true],
      ['a.txt', true],
      ['/w/new file', true],
      ['', false],
      ['scp://host//w/a.txt', false],
      ['oil:///w/', false],
      ['/', false],
  ]
    enew!
    if name != ''
      execute 'silent file' fnameescape(name)
    endif
    assert_equal(expected, documents.IsFile(bufnr()), name)
  endfor
  enew!
  silent file /w/a.bin
  setlocal binary
  assert_false(documents.IsFile(bufnr()))
  help
  assert_false(documents.IsFile(bufnr()))
enddef

def g:Test_a_workspace_is_marked()
  const root = tempname()
  mkdir(root .. '/project/src', 'p')
  mkdir(root .. '/plain', 'p')
  mkdir(root .. '/project/.git')
  const before = getcwd()
  for [folder, expected] in [
      ['project', [root .. '/project']],
      ['project/src', [root .. '/project']],
      ['plain', []],
  ]
    execute 'cd' fnameescape(root .. '/' .. folder)
    assert_equal(expected, workspace.Folders(), folder)
  endfor
  execute 'edit' fnameescape(root .. '/project/src/a.txt')
  assert_equal([root .. '/project'], workspace.Folders())
  g:outrigger_folders = [root .. '/plain/']
  assert_equal([root .. '/plain'], workspace.Folders())
  unlet g:outrigger_folders
  execute 'cd' fnameescape(before)
  delete(root, 'rf')
enddef
