vim9script
# The same words stand for the same state.

import autoload 'outrigger/status.vim'

def Agent(name: string, connected: bool): dict<any>
  return {name: name, version: '1.0', connected: connected}
enddef

# Every plugin has this table in its tests.
def g:Test_a_status_in_one_line()
  const none = {agents: [], pending: 0, heldBack: 0, paused: false}
  const some = {
    agents: [Agent('Qwen Code', true), Agent('Gemini CLI', false)],
    pending: 2,
    heldBack: 1,
    paused: true,
  }
  assert_equal('no agent connected; 0 pending; 0 held back', status.Describe(none))
  assert_equal('Qwen Code 1.0, Gemini CLI 1.0 (away); 2 pending; 1 held back; paused', status.Describe(some))
enddef

def g:Test_the_status_line()
  status.SetState('running')
  status.Set({agents: [Agent('Qwen Code', true), Agent('Gemini CLI', false)], pending: 2, heldBack: 0, paused: false})
  assert_equal('[outrigger: 1 2 pending]', outrigger#Statusline())
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
