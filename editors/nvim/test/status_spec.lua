local status = require("outrigger.status")

it("a status line has the companion's words, or the state without one", function()
  same(status.line(), "")
  status.set({ agents = {}, pending = 2, heldBack = 0, paused = true, summary = "all of it", short = "few words" })
  same(status.line(), "few words")
  status.set(nil)
  for state, line in pairs({ stopped = "", starting = "", restarting = "restarting", failed = "failed" }) do
    status.set_state(state)
    same(status.line(), line, state)
  end
  status.set_state("stopped")
end)
