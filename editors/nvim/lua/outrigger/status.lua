--- How things stand, in words: the state of the companion, and what it says of agents and proposals.
--- The words are the same in all plugins and on the page, see editors/README.md.

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

--- An agent with its version, and whether it is away.
function M.agent(agent)
  return ("%s %s%s"):format(agent.name, agent.version, agent.connected and "" or " (away)")
end

--- Everything that the companion said, in one line.
function M.describe()
  local agents = vim.tbl_map(M.agent, status.agents)
  local words = {
    #agents == 0 and "no agent connected" or table.concat(agents, ", "),
    ("%d pending"):format(status.pending),
    ("%d held back"):format(status.heldBack),
  }
  if status.paused then
    table.insert(words, "paused")
  end
  return table.concat(words, "; ")
end

--- In a few words, for a status line; empty while nothing runs.
function M.line()
  if not status then
    return (state == "restarting" or state == "failed") and state or ""
  end
  local connected = vim.tbl_filter(function(agent)
    return agent.connected
  end, status.agents)
  local words = { #connected == 0 and "no agent" or ("%d agent%s"):format(#connected, #connected == 1 and "" or "s") }
  if status.pending > 0 then
    table.insert(words, ("%d pending"):format(status.pending))
  end
  if status.paused then
    table.insert(words, "paused")
  end
  return table.concat(words, ", ")
end

return M
