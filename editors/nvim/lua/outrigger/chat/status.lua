--- How a conversation stands, in words: for the line above it, its head and its tail.

local entries = require("outrigger.chat.entries")

local M = {}

--- How a connection is, for people.
local STATES = {
  waiting = "waiting for the companion",
  off = "not connected",
  starting = "starting a daemon",
  connecting = "connecting",
  catchingUp = "catching up",
  live = "connected",
  reconnecting = "reconnecting",
  lost = "disconnected",
  failed = "not connected",
}

--- What to do when there is no connection.
local ADVICE = ":Outrigger connect tries again, :Outrigger connect start runs a daemon in this folder"

--- How it is, in a word or two.
function M.state(status)
  local state = status.connection.state
  return STATES[state] or entries.line(state)
end

--- Which machine and folder the daemon works in.
function M.place(status)
  local place = status.place
  local where = place and ("%s:%s"):format(place.machine or "this machine", place.workspace.daemonPath)
  return where and entries.line(where) or ""
end

--- What people call the one of `offered` with this id.
local function name_of(id, offered)
  for _, it in ipairs(offered or {}) do
    if it.id == id then
      return entries.line(it.name)
    end
  end
  return id and entries.line(id)
end

--- What the agent may do without asking. It is always said: it decides what the person has to watch.
local function mode_of(status)
  local known = name_of(status.mode, status.modes)
  return known or (status.connection.state == "live" and "mode not known" or nil)
end

--- What the agent is and does, in at most `room` columns. Its mode and what it does stay, whatever has
--- to go; that it may not ask becomes a sign. It says no more than that, because the mode may be one that
--- nobody here knows.
function M.doing(status, room)
  local usage = status.usage
  local mode = mode_of(status)
  local parts = {
    model = name_of(status.model, status.models),
    mode = mode and status.unasking and mode .. " (may not ask)" or mode,
    used = usage and usage.size > 0 and ("%d%%"):format(math.floor(100 * usage.used / usage.size)) or nil,
    busy = status.busy and "working" or nil,
  }
  local function line()
    local words = {}
    for _, part in ipairs({ "model", "mode", "used", "busy" }) do
      table.insert(words, parts[part])
    end
    return table.concat(words, ", ")
  end
  for _, part in ipairs({ "used", "model", "mode" }) do
    if vim.fn.strdisplaywidth(line()) <= room then
      break
    end
    parts[part] = part == "mode" and mode and mode .. (status.unasking and "!" or "") or nil
  end
  return line()
end

--- What the conversation is called, and where it takes place.
function M.head(status, shortened)
  local lines = { "# " .. entries.line(status.title or "Conversation") }
  if status.place then
    for _, sentence in ipairs(status.place.locality or {}) do
      table.insert(lines, entries.line(sentence))
    end
  end
  if shortened then
    table.insert(lines, "— what was said before is not kept —")
  end
  table.insert(lines, "")
  return lines
end

--- What is wrong or waits.
function M.tail(status, requests)
  local lines = {}
  local connection = status.connection
  if connection.why then
    table.insert(lines, "! " .. entries.line(connection.why))
    if connection.hint then
      table.insert(lines, "! " .. entries.line(connection.hint))
    end
  end
  if connection.trouble or connection.state == "lost" or connection.state == "off" then
    table.insert(lines, "! " .. ADVICE)
  end
  for _, queued in ipairs(status.queue or {}) do
    table.insert(lines, "… " .. entries.line(queued.text or "a prompt that waits"))
  end
  for _, request in ipairs(requests) do
    local how = request.proposal and ":Outrigger show" or ":Outrigger answer"
    table.insert(lines, ("? %s (%s)"):format(entries.line(request.title), how))
  end
  if #lines > 0 then
    table.insert(lines, "")
  end
  return lines
end

return M
