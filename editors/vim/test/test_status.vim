vim9script
# A status line has the companion's words, or the state without one.

import autoload 'outrigger/status.vim'

def g:Test_the_status_line()
  status.SetState('running')
  assert_equal('', outrigger#Statusline())
  status.Set({agents: [], pending: 2, heldBack: 0, paused: false, summary: 'all of it', short: 'few words'})
  assert_equal('[outrigger: few words]', outrigger#Statusline())
  status.Forget()
  for [state, line] in [
      ['starting', ''],
      ['restarting', '[outrigger: restarting]'],
      ['failed', '[outrigger: failed]'],
      ['stopped', ''],
  ]
    status.SetState(state)
    assert_equal(line, outrigger#Statusline())
  endfor
enddef
