local restart = require("outrigger.restart")

-- The same table is in the tests of every plugin.
it("a companion that ended by itself is started again, later and later, and then given up", function()
  local cases = {
    -- Failures before, seconds that it ran; failures now, milliseconds to wait.
    { 0, 0, 1, 250 },
    { 1, 0, 2, 500 },
    { 2, 10, 3, 1000 },
    { 3, 59, 4, 2000 },
    { 4, 0, 5, 4000 },
    { 5, 59, 6, nil },
    { 6, 0, 7, nil },
    { 0, 60, 1, 250 },
    { 5, 60, 1, 250 },
    { 5, 3600, 1, 250 },
  }
  for _, case in ipairs(cases) do
    local failures, wait = restart.after_end(case[1], case[2] * 1000)
    same({ failures, wait }, { case[3], case[4] }, vim.inspect(case))
  end
end)
