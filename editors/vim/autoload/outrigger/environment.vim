vim9script
# The variables with which agents in a terminal of this Vim find it before any other.
#
# Terminals of Vim inherit its own environment, so that is where the variables go. They hold secrets
# and are never logged. While the companion restarts they stay: it will have the same port and tokens.

import autoload './config.vim'

# What the variables were before, by name; null for those that were not set.
var before: dict<any>

export def Set(variables: dict<string>)
  if !config.Get('environment')
    return
  endif
  for [name, value] in variables->items()
    if !before->has_key(name)
      before[name] = getenv(name)
    endif
    setenv(name, value)
  endfor
enddef

export def Unset()
  for [name, value] in before->items()
    setenv(name, value)
  endfor
  before = {}
enddef
