vim9script
# A proposal is over, and the person is told how; the hunks are those of the text that is shown.

import autoload 'outrigger/log.vim'
import autoload 'outrigger/proposals.vim'
import autoload 'outrigger/review.vim'

def Hunk(number: number, line: number): dict<number>
  return {number: number, originalStart: line, originalEnd: line + 1, proposedStart: line, proposedEnd: line + 1}
enddef

def Proposal(): dict<any>
  return {
    id: 1,
    path: '/w/a.txt',
    agent: 'Some Agent',
    session: 's',
    original: "1\n2\n3\n",
    proposed: "1\n2\nTHREE\n",
    hunks: [Hunk(1, 0), Hunk(2, 2)],
    dirty: false,
    editable: true,
  }
enddef

def g:Test_the_person_is_told_how_a_proposal_ended()
  const over = {id: 1, outcome: 'withdrawn', message: 'a.txt: taken back by its agent'}
  proposals.Open(Proposal())
  proposals.Close(over)
  assert_match('a.txt: taken back by its agent', log.Tail(1)[0])
  const count = log.Tail(1000)->len()
  proposals.Close(over)
  assert_equal(count, log.Tail(1000)->len())
  popup_clear()
enddef

def g:Test_the_hunks_are_those_of_the_text_that_is_shown()
  var drafted = Proposal()->extend({draftHunks: [Hunk(1, 2)]})
  assert_match('2 hunks', review.Hint(Proposal()))
  assert_match('1 hunk:', review.Hint(drafted))
  review.Open(drafted, true)
  assert_equal(3, line('.'))
  review.Close(drafted)
enddef
