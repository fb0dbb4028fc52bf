vim9script
# When a companion that ended by itself is started again. Every plugin has this table in its tests.

import autoload 'outrigger/restart.vim'

def g:Test_a_companion_is_started_again_later_and_later_and_then_given_up()
  for [before, ran, failures, wait] in [
      # Failures before, seconds that it ran; failures now, milliseconds to wait.
      [0, 0, 1, 250],
      [1, 0, 2, 500],
      [2, 10, 3, 1000],
      [3, 59, 4, 2000],
      [4, 0, 5, 4000],
      [5, 59, 6, -1],
      [6, 0, 7, -1],
      [0, 60, 1, 250],
      [5, 60, 1, 250],
      [5, 3600, 1, 250],
  ]
    assert_equal({failures: failures, wait: wait}, restart.AfterEnd(before, ran * 1.0), $'{before} {ran}')
  endfor
enddef
