vim9script
# Proposals come, get other texts, and are over; the hunks are those of the text that is shown.

import autoload 'outrigger/log.vim'
import autoload 'outrigger/proposals.vim'
import autoload 'outrigger/reload.vim'
import autoload 'outrigger/review.vim'
import './program.vim'

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
    revision: 1,
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

# The proposal as it is after somebody has put a line at the top of the file.
def Revised(more: dict<any>): dict<any>
  return Proposal()->extend({
    revision: 2,
    original: "0\n1\n2\n3\n",
    proposed: "0\n1\n2\nTHREE\n",
    stale: 'the file has changed',
  })->extend(more)
enddef

def Sides(): list<string>
  return [winbufnr(1), winbufnr(2)]->map((_, buffer) => getbufline(buffer, 1, '$')->join(' '))
enddef

def ShowIt()
  proposals.Open(Proposal())
  proposals.Show(1)
enddef

def PutAway()
  proposals.Close({id: 1})
  popup_clear()
  silent! tabonly!
  silent! :%bwipeout!
enddef

def g:Test_a_proposal_whose_file_has_changed_is_shown_anew_in_place()
  ShowIt()
  cursor(2, 1)
  const [window, tabs] = [win_getid(), tabpagenr('$')]
  assert_equal({}, proposals.TypedText(1))
  const before = log.Tail(1000)->len()
  proposals.Open(Revised({}))
  proposals.Open(Revised({revision: 3}))
  assert_equal(['0 1 2 3', '0 1 2 THREE'], Sides())
  assert_equal([window, tabs], [win_getid(), tabpagenr('$')])
  assert_equal('2', getline('.'))
  assert_false(&modified)
  assert_false(getbufvar(winbufnr(1), '&modifiable'))
  assert_equal(before + 1, log.Tail(1000)->len(), 'the person is told once')
  assert_match('a.txt: the file has changed', log.Tail(1)[0])
  silent! undo 0
  assert_equal('0 1 2 THREE', Sides()[1], 'undo goes back to a text of another file')
  PutAway()
enddef

def g:Test_what_is_accepted_is_on_the_screen_even_if_the_left_side_is_not()
  for close in ['only', 'wincmd h | close']
    program.Start()
    ShowIt()
    execute close
    proposals.Open(Revised({}))
    assert_equal([1, ['0', '1', '2', 'THREE']], [winnr('$'), getline(1, '$')], close)
    write
    const verdicts = program.Sent('outrigger/proposal/verdict', 1)
    assert_equal([{id: 1, accepted: true, revision: 2}], verdicts, close)
    PutAway()
    program.Stop()
  endfor
enddef

def Revision(revision: number, last: string): dict<any>
  return Revised({revision: revision, proposed: $"0\n1\n2\n{last}\n"})
enddef

# Two revisions come while a command is typed, and the person takes their time.
var during: string
def g:OutriggerDuring(first: number): string
  proposals.Open(Revision(first, 'OLD'))
  proposals.Open(Revision(first + 1, 'NEW'))
  sleep 120m
  during = Sides()[1]
  return ''
enddef

def g:Test_of_several_texts_that_wait_for_a_command_the_newest_is_shown()
  program.Start()
  ShowIt()
  feedkeys(":\<C-r>=g:OutriggerDuring(2)\<CR>\<Esc>", 'xt')
  assert_equal('1 2 THREE', during)
  sleep 200m
  assert_equal('0 1 2 NEW', Sides()[1])
  feedkeys(":\<C-r>=g:OutriggerDuring(4)\<CR>\<Esc>", 'xt')
  # This one comes before somebody has looked whether the command is over.
  proposals.Open(Revision(6, 'NEWEST'))
  assert_equal('0 1 2 NEWEST', Sides()[1])
  sleep 200m
  assert_equal('0 1 2 NEWEST', Sides()[1])
  write
  const verdicts = program.Sent('outrigger/proposal/verdict', 1)
  assert_equal([{id: 1, accepted: true, revision: 6}], verdicts)
  PutAway()
  program.Stop()
enddef

def g:Test_new_texts_take_no_focus()
  const home = win_getid()
  ShowIt()
  win_gotoid(home)
  proposals.Open(Revised({}))
  assert_equal(home, win_getid())
  proposals.Show(1)
  assert_equal('0 1 2 THREE', Sides()[1])
  assert_match('the file has changed', getwinvar(1, '&statusline'))
  PutAway()
enddef

def g:Test_what_was_typed_is_asked_for_and_comes_back_merged()
  ShowIt()
  setline(1, 'MINE')
  assert_equal({text: "MINE\n2\nTHREE\n"}, proposals.TypedText(1))
  proposals.Open(Revised({proposed: "0\nMINE\n2\nTHREE\n"}))
  assert_equal('0 MINE 2 THREE', Sides()[1])
  assert_true(&modified)
  PutAway()
enddef

def g:Test_the_same_text_again_keeps_what_was_typed()
  ShowIt()
  proposals.Open(Revised({}))
  setline(1, 'MINE')
  # The companion is another one, and counts anew.
  proposals.Forget()
  proposals.Open(Revised({revision: 1}))
  assert_equal('MINE 1 2 THREE', Sides()[1])
  PutAway()
enddef

# The companion has forgotten what this revision was.
def g:Test_what_cannot_be_brought_into_the_new_text_can_be_pasted()
  ShowIt()
  proposals.Open(Revised({}))
  setline(1, 'LATE')
  proposals.Forget()
  proposals.Open(Revised({original: "other\n", proposed: "OTHER\n"}))
  assert_equal(['other', 'OTHER'], Sides())
  assert_equal("LATE\n1\n2\nTHREE\n", getreg('"'))
  PutAway()
enddef

def g:Test_the_review_says_what_the_sides_are_and_what_is_in_conflict()
  const text = "<<<<<<< in the file now\n1\n=======\nONE\n>>>>>>> proposed\n"
  const columns = &columns
  set columns=80
  proposals.Open(Revised({proposed: text, conflicts: 1, dirty: true, who: 'Some Agent (2)', path: '/w/100%.txt'}))
  proposals.Show(1)
  const left = '/w/100%%.txt with your unsaved changes: the file has changed'
  assert_match('^\V' .. left, getwinvar(1, '&statusline'))
  const right = '/w/100%%.txt as Some Agent proposes | '
  assert_equal(right .. '1 in conflict (]x), :w accepts, :q rejects', getwinvar(2, '&statusline'))
  assert_equal(1, len(getmatches()))
  setline(1, ['1', '', '', '', ''])
  doautocmd TextChanged
  assert_equal(right .. ':w accepts, :q rejects', getwinvar(2, '&statusline'))
  assert_equal(0, len(getmatches()))
  PutAway()
  &columns = columns
enddef

def g:Test_the_review_tells_two_sessions_of_an_agent_apart_where_there_is_room()
  const columns = &columns
  for [width, words] in [
      [160, '/w/a.txt as Some Agent · process 4711 proposes'],
      [120, 'Some Agent · process 4711 proposes'],
      [80, '/w/a.txt as Some Agent proposes'],
  ]
    &columns = width
    proposals.Open(Proposal()->extend({who: 'Some Agent · process 4711'}))
    proposals.Show(1)
    assert_equal(words .. ' | :w accepts, :q rejects', getwinvar(2, '&statusline'))
    PutAway()
  endfor
  &columns = columns
enddef

def g:Test_a_name_is_shown_and_never_obeyed()
  filetype on
  g:obeyed = 0
  const name = "%{execute('let g:obeyed=1')}%#Error#|let g:obeyed=2\nlet g:obeyed=3\n`touch x`#\e[2J\u202e.txt"
  var shown = Proposal()->extend({path: '/w/' .. name, who: name, stale: name})
  review.Open(shown, true)
  redrawstatus!
  redraw!
  for window in range(1, winnr('$'))
    assert_notmatch('[[:cntrl:]]', bufname(winbufnr(window)))
    const bar = getwinvar(window, '&statusline')
    assert_notmatch('[[:cntrl:]]', bar)
    # Every other one is an item of ours.
    const ours = bar->substitute('%<%=%{outrigger#Statusline()}', '', '')
    assert_notmatch('%', ours->substitute('%%', '', 'g'))
  endfor
  review.Close(shown)
  assert_equal(0, g:obeyed)
  proposals.Close({id: 1, outcome: 'withdrawn', message: "a\n12:00:00 forged"})
  assert_notmatch('^12:00:00 forged', log.Tail(1)[0])
enddef

def g:Test_what_an_agent_writes_sets_no_options()
  filetype on
  set modeline modelines=5
  const obeyed = "# vim: set ts=13 shiftwidth=13 :\n"
  var shown = Proposal()->extend({path: '/w/a.py', original: obeyed, proposed: obeyed .. "x\n"})
  review.Open(shown, true)
  for window in range(1, winnr('$'))
    # Whoever runs autocommands there gets nothing out of it either.
    win_execute(win_getid(window), 'silent! doautocmd User Nothing')
    assert_notequal(13, getbufvar(winbufnr(window), '&tabstop'))
    assert_false(getbufvar(winbufnr(window), '&modeline'))
    assert_equal('python', getbufvar(winbufnr(window), '&filetype'))
  endfor
  review.Close(shown)
enddef

def g:Test_a_pipe_in_the_place_of_a_file_is_not_waited_for()
  const path = tempname()
  writefile(['old'], path)
  execute 'edit' path
  set autoread
  delete(path)
  system('mkfifo ' .. shellescape(path))
  reload.Expect(path, [])
  # A look that opened it would never come back. Timers run while this one waits for its turn.
  var waited = 0
  timer_start(300, (_) => {
    waited += 1
  }, {repeat: 2})
  while waited < 2
    sleep 10m
  endwhile
  assert_equal(['old'], getline(1, '$'))
  bwipeout!
enddef
