--- What the companion says of itself: agents, proposals, pause.

local event = require("outrigger.event")

local M = {}

local status = nil

function M.set(it)
  status = it
  event.fire("OutriggerStatus", it)
  vim.cmd("redrawstatus!")
end

function M.get()
  return status
end

local function count(number, one, many)
  return ("%d %s"):format(number, number == 1 and one or many)
end

--- In a few words; empty while nothing runs.
function M.line()
  if not status then
    return ""
  end
  local connected = vim.tbl_filter(function(agent)
    return agent.connected
  end, status.agents)
  local words = { #connected == 0 and "no agent" or count(#connected, "agent", "agents") }
  if status.pending > 0 then
    table.insert(words, count(status.pending, "proposal", "proposals"))
  end
  if status.paused then
    table.insert(words, "paused")
  end
  return table.concat(words, ", ")
end

return M
