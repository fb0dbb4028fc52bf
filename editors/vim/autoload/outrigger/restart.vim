vim9script
# When a companion that ended by itself is started again. The rule is the same in all plugins, see
# editors/README.md.

# How long to wait before each start, in milliseconds. There is no start after the last.
const WAITS = [250, 500, 1000, 2000, 4000]
# A companion that ran this long, in seconds, was sound: the ends before it do not count any more.
const SOUND = 60.0

# A companion has ended after `ran` seconds, and `before` others in a row before it. How many
# `failures` there are in a row now, and how long to `wait`; -1 if it is given up.
export def AfterEnd(before: number, ran: float): dict<number>
  const failures = (ran >= SOUND ? 0 : before) + 1
  return {failures: failures, wait: WAITS->get(failures - 1, -1)}
enddef
