vim9script
# The companion is told what becomes of it.

import autoload 'outrigger/companion.vim'
import autoload 'outrigger/connection.vim'
import './program.vim'

# Waits until one runs that is not `before`; its process id.
def Started(before: number): number
  for _ in range(500)
    if connection.IsRunning() && connection.Pid() != before
      break
    endif
    sleep 10m
  endfor
  return connection.Pid()
enddef

def g:Test_a_companion_that_is_stopped_knows_whether_it_is_started_again()
  program.Offer()
  companion.Restart()
  const first = Started(0)
  companion.Restart()
  assert_equal([{restart: true}], program.Sent('outrigger/stop', 1))
  program.End(first)
  const second = Started(first)
  assert_notequal(first, second)
  companion.Stop()
  assert_equal([{restart: true}, {}], program.Sent('outrigger/stop', 2))
  program.End(second)
  assert_false(connection.IsRunning())
  program.Stop()
enddef
