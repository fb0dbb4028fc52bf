vim9script
# Runs the unit tests: vim -u NONE -i NONE --not-a-term -S test/run.vim
#
# Every function that is called Test… in test/test_*.vim is one test. What fails is written to the
# file in $OUTRIGGER_TEST_REPORT, or to stdout; the exit code is 1 then.

const here = expand('<sfile>:p:h')
set nocompatible encoding=utf-8 nomore shortmess+=I noswapfile
g:outrigger_autostart = false
execute 'set runtimepath^=' .. fnamemodify(here, ':h')
runtime plugin/outrigger.vim

def Tests(): list<string>
  return execute('function /^\(<SNR>\d\+_\)\=Test')
    ->split("\n")
    ->map((_, line) => line->matchstr('\(<SNR>\d\+_\)\=Test\w\+'))
enddef

# A mistake in a function that no test calls must not wait for somebody to call it.
def CompileAll()
  for file in globpath(fnamemodify(here, ':h'), 'autoload/**/*.vim', true, true)
    execute 'source' fnameescape(file)
  endfor
  for line in execute('def')->split("\n")
    const name = line->matchstr('^def \zs[^(]\+')
    const loaded = name =~# '^<SNR>' ? getscriptinfo({sid: name->matchstr('\d\+')->str2nr()})[0].name : name
    if loaded =~# 'outrigger' && name !~# '<lambda>'
      execute 'defcompile' name
    endif
  endfor
enddef

def RunAll(): list<string>
  var failed: list<string>
  try
    CompileAll()
  catch
    failed->add($'compiling: {v:exception} in {v:throwpoint}')
  endtry
  for file in globpath(here, 'test_*.vim', true, true)
    execute 'source' fnameescape(file)
  endfor
  const tests = Tests()
  for test in tests
    v:errors = []
    try
      execute 'call' test .. '()'
    catch
      v:errors->add($'{v:exception} in {v:throwpoint}')
    endtry
    failed->extend(v:errors->mapnew((_, error) => $'{test}: {error}'))
    silent! tabonly!
    silent! only!
    silent! :%bwipeout!
  endfor
  return failed + [$'{len(tests)} tests, {len(failed)} failures']
enddef

const report = RunAll()
writefile(report, empty($OUTRIGGER_TEST_REPORT) ? '/dev/stdout' : $OUTRIGGER_TEST_REPORT)
execute len(report) == 1 ? 'qall!' : 'cquit 1'
