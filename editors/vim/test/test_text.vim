vim9script
# Texts go into a buffer and come back byte for byte.

import autoload 'outrigger/text.vim'

const TEXTS = [
  "one\ntwo\n",
  "no newline at the end",
  "one\r\ntwo\r\n",
  "\ufeffmarked\r\nno newline",
  "mixed\r\nline ends\n",
  "only\rcarriage\rreturns",
  "ends in a carriage return\r\nhere too\r",
  "\n\n",
  "ä 🙂 \u3000\n",
]

def g:Test_texts_come_back()
  for before in TEXTS
    new
    text.Put(before)
    assert_equal(before, text.Of(bufnr()))
    assert_false(&modified, string(before))
    close!
  endfor
enddef

def g:Test_an_edit_keeps_the_rest()
  new
  text.Put("\ufeffone\r\ntwo")
  assert_equal(['one', 'two'], getline(1, '$'))
  setline(1, 'ONE')
  append('$', 'three')
  assert_equal("\ufeffONE\r\ntwo\r\nthree", text.Of(bufnr()))
enddef

def g:Test_undo_does_not_go_behind_the_beginning()
  new
  text.Put("one\n")
  setline(1, 'two')
  silent! undo
  silent! undo
  assert_equal(['one'], getline(1, '$'))
enddef

def g:Test_what_is_no_utf8_is_made_utf8()
  assert_equal("aéb\n", text.Join(["a\xe9b"]))
  assert_equal("é\n", text.Join(['é']))
  assert_equal('', text.Join([]))
enddef

def g:Test_a_line_is_found_again_after_a_change()
  for [before, after, at, expected] in [
      ['a b c', 'a b c', 2, 2],
      ['a b c', 'new a b c', 2, 3],
      ['a b c', 'a b new c', 2, 2],
      ['a b c', 'a b new c', 3, 4],
      ['a b c', 'a c', 3, 2],
      ['a b c', 'a c', 2, 1],
      ['a b c', 'x', 3, 1],
      ['a', 'a b c', 1, 1],
  ]
    assert_equal(expected, text.Moved(split(before), split(after), at), $'{before} {after} {at}')
  endfor
enddef

def g:Test_the_form_of_a_text_is_no_difference()
  assert_true(text.IsSame("a\nb\n", "\ufeffa\r\nb\r\n"))
  assert_false(text.IsSame("a\nb\n", "a\nb"))
  assert_false(text.IsSame("a\n", "b\n"))
enddef

def g:Test_the_text_of_others_is_seen_and_steers_nothing()
  for [given, shown] in [
    ['', ''],
    ['a path/with spaces é漢🙂', 'a path/with spaces é漢🙂'],
    ["a\noutrigger: accepted\r\t", 'a␊outrigger: accepted␍␉'],
    ["\e]0;owned\x07\x7f", '␛]0;owned␇<U+007F>'],
    ["\u9b\u202e\u2028\u200b", '<U+009B><U+202E><U+2028><U+200B>'],
    ["👨\u200d👩", "👨\u200d👩"],
  ]
    assert_equal(shown, text.OneLine(given))
  endfor
enddef
