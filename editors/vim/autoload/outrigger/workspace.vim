vim9script
# Which folders agents have to be in to find this Vim.

import autoload './config.vim'

# The folders that were given, or the one that the current file or the current folder is in. No
# folder if nothing marks one, or if it would be the whole home.
export def Folders(): list<string>
  const given = config.Get('folders')
  if !empty(given)
    return given->mapnew((_, folder) => Full(folder))
  endif
  const file = &buftype == '' && expand('%') != '' ? expand('%:p:h') : ''
  for start in [file, getcwd()]
    const root = start == '' ? '' : Root(start)
    if root != ''
      return [root]
    endif
  endfor
  return []
enddef

def Root(start: string): string
  var folder = Full(start)
  const home = Full('~')
  while folder != '' && folder != home && folder != fnamemodify(folder, ':h')
    for marker in config.Get('markers')
      const there = folder .. '/' .. marker
      if isdirectory(there) || filereadable(there)
        return folder
      endif
    endfor
    folder = fnamemodify(folder, ':h')
  endwhile
  return ''
enddef

def Full(folder: string): string
  return fnamemodify(folder, ':p')->substitute('.\zs[/\\]$', '', '')
enddef
