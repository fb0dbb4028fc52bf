local status = require("outrigger.status")

local function agent(name, connected)
  return { name = name, version = "1.0", connected = connected }
end

-- The same table is in the tests of every plugin.
it("the same words stand for the same state", function()
  local none = { agents = {}, pending = 0, heldBack = 0, paused = false }
  local cases = {
    { none, "no agent connected; 0 pending; 0 held back" },
    {
      { agents = { agent("Qwen Code", true), agent("Gemini CLI", false) }, pending = 2, heldBack = 1, paused = true },
      "Qwen Code 1.0, Gemini CLI 1.0 (away); 2 pending; 1 held back; paused",
    },
  }
  for _, case in ipairs(cases) do
    status.set(case[1])
    same(status.describe(), case[2])
  end
  same(status.line(), "1 agent, 2 pending, paused")
  status.set(none)
  same(status.line(), "no agent")
  status.set(nil)
  for state, line in pairs({ stopped = "", starting = "", restarting = "restarting", failed = "failed" }) do
    status.set_state(state)
    same(status.line(), line, state)
  end
  status.set_state("stopped")
end)
