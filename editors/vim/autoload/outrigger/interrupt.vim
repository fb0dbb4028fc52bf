vim9script
# May the person be interrupted now? Only then does a diff come to the front. The rule is the same in
# all plugins, see editors/README.md.
#
# Messages arrive at any time: while the person selects, has half typed a command, or looks at a menu.
# Even a tab page that opens behind would take the selection or the command away, so there is a second
# question: whether windows may come and go at all.

import autoload './config.vim'

# Somebody who pressed a key this recently is still typing, in milliseconds. A diff that came between
# `:w` and its Enter would be accepted unseen.
export const PAUSE = 600

# What keeps from interrupting, in the order in which it is looked at.
export const REASONS = ['insert', 'selection', 'operator', 'prompt', 'terminal', 'popup', 'macro', 'review']

# How often to look again, and after how long a proposal is shown behind instead, in milliseconds.
const INTERVAL = 50
const PATIENCE = 1000

# How long after `CursorHold` its own key is done at the latest, in milliseconds. What comes later is the
# person's.
const REST = 200

# When a key was pressed last.
export var pressed = reltime()
var rested: list<any>
var waiting: list<func>
var timer = -1

# Vim has noticed that no key comes. It does so by a key of its own, which looks like one of the person.
export def Rested()
  rested = reltime()
enddef

# The person has pressed a key, and Vim has done what it means.
export def KeyPressed()
  const isRest = !empty(rested) && reltimefloat(reltime(rested)) * 1000 < REST
  rested = []
  if !isRest
    pressed = reltime()
  endif
enddef

# What the person is in the middle of, by the names in `REASONS`, and how long they have been `idle`.
export def Facts(): dict<any>
  const mode = mode(1)
  return {
    insert: mode =~# '^\%([iR]\|ni\)',
    selection: mode =~# "^[vVsS\<C-V>\<C-S>]",
    operator: mode =~# '^no' || IsHalfway(),
    prompt: mode =~# '^[cr!]' || &buftype == 'prompt' || getcmdwintype() != '',
    terminal: mode =~# '^t' || &buftype == 'terminal',
    popup: pumvisible() || HasMenu(),
    macro: reg_recording() != '' || reg_executing() != '',
    review: bufname() =~# '^outrigger://\d\+/',
    idle: float2nr(reltime(pressed)->reltimefloat() * 1000),
  }
enddef

# The first reason not to interrupt now; empty if there is none.
export def Reason(facts: dict<any>): string
  for reason in REASONS
    if facts->get(reason, false)
      return reason
    endif
  endfor
  return facts.idle <= PAUSE ? 'pause' : ''
enddef

# Whether the person may be interrupted now. The setting goes before the rule.
export def IsAllowed(): bool
  const focus = config.Get('focus')
  return focus == 'always' || (focus == 'auto' && Reason(Facts()) == '')
enddef

# Calls `Show` with whether it may interrupt: with true as soon as it may, or with false if it may not
# for a while, or never.
export def Await(Show: func(bool))
  AwaitUntil(Show, config.Get('focus') == 'auto' ? PATIENCE / INTERVAL : 0)
enddef

def AwaitUntil(Show: func(bool), looks: number)
  if IsAllowed() && WindowsMayChange()
    Show(true)
  elseif looks <= 0 && WindowsMayChange()
    Show(IsAllowed())
  else
    timer_start(INTERVAL, (_) => AwaitUntil(Show, looks - 1))
  endif
enddef

# Runs `Work` as soon as windows may come and go; in the order given.
export def Soon(Work: func)
  waiting->add(Work)
  RunAll()
enddef

def RunAll()
  while !empty(waiting) && WindowsMayChange()
    const Work = waiting->remove(0)
    Work()
  endwhile
  timer_stop(timer)
  if !empty(waiting)
    timer = timer_start(INTERVAL, (_) => RunAll())
  endif
enddef

def WindowsMayChange(): bool
  return mode(1) =~# '^\%(n$\|ni\|nt\|i$\|R$\|t\)' && !IsHalfway() && getcmdwintype() == '' && !pumvisible()
enddef

# Whether a count, a register or half a mapping was typed in Normal mode: then Vim is in no safe state.
def IsHalfway(): bool
  return mode(1) ==# 'n' && state('moS') != ''
enddef

# Whether a popup takes the keys. One that only says something does not.
def HasMenu(): bool
  return !popup_list()->filter((_, id) => popup_getoptions(id)->has_key('filter'))->empty()
enddef
