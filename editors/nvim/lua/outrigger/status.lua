--- How things stand: the state of the companion, and what it says of agents and proposals. The words
--- for that are its own.

local event = require("outrigger.event")

local M = {}

--- "stopped", "starting", "running", "restarting" or "failed".
local state = "stopped"
--- What the companion said last; nil while none runs.
local status = nil

function M.set_state(it)
  state = it
  vim.cmd("redrawstatus!")
end

function M.state()
  return state
end

function M.set(it)
  status = it
  event.fire("OutriggerStatus", it)
  vim.cmd("redrawstatus!")
end

function M.get()
  return status
end

--- In a few words, for a status line; empty while nothing runs.
function M.line()
  if status then
    return status.short
  end
  return (state == "restarting" or state == "failed") and state or ""
end

return M
