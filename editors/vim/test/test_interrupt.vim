vim9script
# May the person be interrupted now?

import autoload 'outrigger/interrupt.vim'

# Every plugin has this table in its tests.
def g:Test_one_reason_is_enough_not_to_interrupt()
  for [holds, idle, reason] in [
      # What is the case, for how many milliseconds no key was pressed, the reason.
      [[], 601, ''],
      [[], 600, 'pause'],
      [[], 0, 'pause'],
      [['insert'], 5000, 'insert'],
      [['selection'], 5000, 'selection'],
      [['operator'], 5000, 'operator'],
      [['prompt'], 5000, 'prompt'],
      [['terminal'], 5000, 'terminal'],
      [['popup'], 5000, 'popup'],
      [['macro'], 5000, 'macro'],
      [['review'], 5000, 'review'],
      [['popup', 'insert'], 0, 'insert'],
  ]
    var facts: dict<any> = {idle: idle}
    for name in holds
      facts[name] = true
    endfor
    assert_equal(reason, interrupt.Reason(facts), $'{holds} {idle}')
  endfor
enddef

var seen: dict<any>

# What holds after these keys, but for the pause. Keys that a script feeds leave Vim in no safe state,
# so in Normal mode there is always an operator.
def Holds(keys: string): list<string>
  g:OutriggerLook = () => {
    seen = interrupt.Facts()
    return ''
  }
  feedkeys(keys .. "\<Cmd>call g:OutriggerLook()\<CR>\<Esc>", 'ntx')
  return interrupt.REASONS->copy()->filter((_, reason) => seen[reason])
enddef

def g:Test_what_the_person_is_in_the_middle_of_is_seen()
  for [keys, expected] in [
      ['gg', ['operator']],
      ['i', ['insert']],
      ['R', ['insert']],
      ["i\<C-O>", ['insert']],
      ['v', ['selection']],
      ['V', ['selection']],
      ["\<C-V>", ['selection']],
      ['gh', ['selection']],
      ['d', ['operator']],
      [':ec', ['prompt']],
      ['/on', ['prompt']],
  ]
    new
    setline(1, ['one', 'two'])
    assert_equal(expected, Holds(keys), keys)
    close!
  endfor
  assert_equal(['operator', 'macro'], Holds('qq'))
  feedkeys('q', 'ntx')
enddef

def g:Test_terminals_menus_and_diffs_are_seen()
  for reason in ['terminal', 'popup', 'review', 'prompt']
    assert_false(interrupt.Facts()[reason], reason)
  endfor
  popup_notification('only to be read', {})
  assert_false(interrupt.Facts().popup)
  const menu = popup_menu(['one', 'two'], {})
  assert_true(interrupt.Facts().popup)
  popup_close(menu)
  popup_clear()
  const terminal = term_start('cat')
  assert_true(interrupt.Facts().terminal)
  term_getjob(terminal)->job_stop('kill')
  bwipeout!
  new
  setlocal buftype=prompt
  assert_true(interrupt.Facts().prompt)
  close!
  new outrigger://7/a.txt
  assert_true(interrupt.Facts().review)
  file outrigger://log
  assert_false(interrupt.Facts().review)
enddef

def g:Test_a_key_begins_the_pause_anew()
  interrupt.pressed = [interrupt.pressed[0] - 60, interrupt.pressed[1]]
  assert_true(interrupt.Facts().idle >= 60000)
  interrupt.KeyPressed()
  assert_true(interrupt.Facts().idle < 60000)
  assert_true(exists('#outrigger#SafeState'))
enddef

# A diff that comes just then would wait for the pause, and be shown behind somebody who rests.
def g:Test_a_rest_is_no_key()
  interrupt.pressed = [interrupt.pressed[0] - 60, interrupt.pressed[1]]
  doautocmd CursorHold
  interrupt.KeyPressed()
  assert_true(interrupt.Facts().idle >= 60000)
  interrupt.KeyPressed()
  assert_true(interrupt.Facts().idle < 60000, 'the next one is a key')
enddef

def g:Test_the_setting_goes_before_the_rule()
  g:outrigger_focus = 'always'
  assert_true(interrupt.IsAllowed())
  g:outrigger_focus = 'never'
  assert_false(interrupt.IsAllowed())
  unlet g:outrigger_focus
  assert_false(interrupt.IsAllowed(), 'a script runs')
enddef
