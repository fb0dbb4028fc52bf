vim9script
# `User` autocommands, for those who want to react. See |outrigger-events|.

export def Fire(name: string)
  if exists('#User#' .. name)
    execute 'doautocmd <nomodeline> User' name
  endif
  redrawstatus!
enddef
