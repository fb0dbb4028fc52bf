--- What other Lua code may call. The rest of lua/outrigger is private.

local M = {}

--- Changes the defaults; calling it is optional. See |outrigger-options|.
function M.setup(options)
  require("outrigger.config").set(options or {})
end

--- Starts the companion for the folder that the person is in, or for `folders`.
function M.start(folders)
  local workspace = require("outrigger.workspace")
  require("outrigger.companion").start(folders or workspace.folders() or { vim.fn.getcwd() })
end

--- Starts it if it should start by itself here; `buffer` was just opened.
function M.consider(buffer)
  if not require("outrigger.config").get().auto_start then
    return
  end
  local companion = require("outrigger.companion")
  local folders = require("outrigger.workspace").folders(buffer)
  if folders and not companion.is_wanted() and not companion.was_stopped() then
    companion.start(folders)
  end
end

--- Stops it. It does not start by itself again in this Neovim.
function M.stop()
  require("outrigger.companion").stop()
end

--- Starts it again: same port, same tokens, same proposals.
function M.restart()
  require("outrigger.companion").restart()
end

--- Hides from agents what is open, or shows it again.
function M.pause(paused)
  paused = paused ~= false
  require("outrigger.connection").request("outrigger/pause", { paused = paused }, function()
    local message = require("outrigger.message")
    message.info(paused and "paused: agents see nothing open" or "resumed: agents see what is open")
  end)
end

--- Opens the diff of a proposal; the one that has waited longest if `id` is nil.
function M.show(id)
  require("outrigger.proposals").show(id)
end

--- Accepts a proposal as it is on the screen; the one in front of the person if `id` is nil.
function M.accept(id)
  require("outrigger.proposals").accept(id)
end

--- Rejects a proposal.
function M.reject(id)
  require("outrigger.proposals").reject(id)
end

--- The last status: `agents`, `pending`, `heldBack`, `paused`, `faults`, and in words `summary` and `short`; nil
--- while nothing runs.
function M.status()
  return require("outrigger.status").get()
end

--- The status in a few words, for a status line; empty while nothing runs.
function M.statusline()
  return require("outrigger.status").line()
end

return M
