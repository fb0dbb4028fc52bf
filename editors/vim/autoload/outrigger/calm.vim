vim9script
# Waits for a moment in which windows may come and go.
#
# Messages arrive at any time: while the person selects, has half typed a command, or looks at a
# menu. Tab pages that open then would take the selection or the command away.

const PAUSE = 50

var waiting: list<func>
var timer = -1

# Runs `Work` now if that disturbs nobody, otherwise as soon as it does not; in the order given.
export def Soon(Work: func)
  waiting->add(Work)
  RunAll()
enddef

def RunAll()
  while !empty(waiting) && IsCalm()
    const Work = waiting->remove(0)
    Work()
  endwhile
  timer_stop(timer)
  if !empty(waiting)
    timer = timer_start(PAUSE, (_) => RunAll())
  endif
enddef

def IsCalm(): bool
  return mode(1) =~# '^\%(n$\|ni\|nt\|i$\|R$\|t\)' && getcmdwintype() == '' && !pumvisible()
enddef
