vim9script
# The report says what is missing; diagnostics do no harm without a companion.

import autoload 'outrigger/health.vim'

def g:Test_the_report_names_what_is_missing()
  g:outrigger_command = '/nowhere/outrigger'
  const report = health.Report()->join("\n")
  unlet g:outrigger_command
  assert_match('!     no program /nowhere/outrigger: install it', report)
  assert_match('!     companion is stopped', report)
  assert_match('ok    encoding is utf-8', report)
enddef

def g:Test_the_report_names_what_closes_a_folder()
  const faults = [
    {source: '/w/.outrigger.toml', line: 2, column: 10, message: 'no list', folder: '/w'},
    {source: 'variable OUTRIGGER_IGNORE', message: 'no text'},
  ]
  assert_equal([
    '  !     agents see nothing of /w: /w/.outrigger.toml:2:10: no list',
    '  !     agents see nothing of any folder: variable OUTRIGGER_IGNORE: no text',
  ], health.Faults(faults))
enddef

def g:Test_commands_are_completed()
  assert_equal(['Outrigger reject', 'Outrigger restart', 'Outrigger resume'],
    getcompletion('Outrigger re', 'cmdline')->map((_, name) => 'Outrigger ' .. name))
enddef

def g:Test_without_a_companion_nothing_happens()
  edit /w/a.txt
  outrigger#SetDiagnostics(bufnr(), [{lnum: 1, col: 2, text: 'odd'}])
  assert_equal('', outrigger#Statusline())
  assert_equal({}, outrigger#Status())
  assert_equal([], outrigger#Pending())
enddef
