if !has('vim9script') || v:version < 900 || !has('channel') || !has('job')
  " Said on use and not at every start: an old Vim may share its configuration with a new one.
  command! -nargs=* Outrigger echoerr 'outrigger needs Vim 9 with +job and +channel; see :version'
  finish
endif
vim9script
# What exists before anything is used: the command, and the events that load the rest.

if exists('g:loaded_outrigger')
  finish
endif
g:loaded_outrigger = 1

import autoload 'outrigger/command.vim'
import autoload 'outrigger/companion.vim'
import autoload 'outrigger/documents.vim'
import autoload 'outrigger/interrupt.vim'
import autoload 'outrigger/proposals.vim'
import autoload 'outrigger/selection.vim'

command -nargs=* -complete=custom,command.Complete Outrigger command.Run([<f-args>])

augroup outrigger
  autocmd!
  autocmd VimEnter,BufReadPost,BufNewFile,DirChanged * companion.Consider()
  autocmd VimLeavePre * companion.Quit()
  autocmd BufReadPost,BufNewFile,BufFilePost,FileChangedShellPost * documents.Read(str2nr(expand('<abuf>')))
  autocmd BufWritePost * documents.Saved(str2nr(expand('<abuf>')))
  autocmd BufUnload * documents.Close(str2nr(expand('<abuf>')))
  autocmd CursorMoved,CursorMovedI,ModeChanged,BufEnter,WinEnter * selection.Moved()
  autocmd CursorHold * interrupt.Rested()
  autocmd SafeState * interrupt.KeyPressed()
  autocmd WinClosed * proposals.WindowClosed(str2nr(expand('<amatch>')))
augroup END

# Loaded late, by a plugin manager or by hand.
if v:vim_did_enter
  companion.Consider()
endif
