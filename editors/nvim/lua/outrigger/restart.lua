--- When a companion that ended by itself is started again. The rule is the same in all plugins, see
--- editors/README.md.

local M = {}

--- How long to wait before each start, in milliseconds. There is no start after the last.
M.WAITS = { 250, 500, 1000, 2000, 4000 }
--- A companion that ran this long was sound: the ends before it do not count any more.
M.SOUND = 60 * 1000

--- A companion has ended after `ran` milliseconds, and `failures` others in a row before it. Returns
--- how many there are in a row now, and how long to wait; nil if it is given up.
function M.after_end(failures, ran)
  failures = (ran >= M.SOUND and 0 or failures) + 1
  return failures, M.WAITS[failures]
end

return M
