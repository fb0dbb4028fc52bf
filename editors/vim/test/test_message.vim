vim9script
# What the person is told is seen, wherever they are.

import autoload 'outrigger/message.vim'

# The texts of all notices.
def Notices(): list<string>
  return popup_list()->map((_, window) => winbufnr(window)->getbufline(1, '$')->join(' '))
enddef

def LastMessage(): string
  return execute('messages')->split("\n")[-1]
enddef

def g:Test_what_does_not_fit_into_a_line_is_in_a_notice()
  popup_clear()
  message.Info('short')
  assert_equal([], Notices())
  assert_equal('outrigger: short', LastMessage())
  const long = repeat('word ', 40) .. 'end'
  message.Error(long)
  assert_equal(['outrigger: ' .. long], Notices())
  assert_true(strdisplaywidth(LastMessage()) <= &columns - 12, LastMessage())
  popup_clear()
enddef

def g:Test_somebody_who_inserts_text_sees_a_notice()
  g:OutriggerSay = () => {
    message.Info('short')
    return ''
  }
  new
  feedkeys("i\<Cmd>call g:OutriggerSay()\<CR>\<Esc>", 'ntx')
  assert_equal(['outrigger: short'], Notices())
  popup_clear()
  close!
enddef
