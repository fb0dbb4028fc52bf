vim9script
# Paths as the protocol writes them.

export def Of(path: string): string
  var name = path
  if has('win32')
    name = '/' .. name->tr('\', '/')
  endif
  return 'file://' .. name->substitute('[^-A-Za-z0-9/_.~]', (found) => Escape(found[0]), 'g')
enddef

def Escape(character: string): string
  return range(strlen(character))
    ->map((_, at) => printf('%%%02X', char2nr(strpart(character, at, 1), false)))
    ->join('')
enddef
