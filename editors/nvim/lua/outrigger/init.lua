--- What other Lua code may call. The rest of lua/outrigger is private.

local M = {}

--- Changes the defaults; calling it is optional. See |outrigger-options|.
function M.setup(options)
  require("outrigger.config").set(options or {})
end

--- Starts the companion for the folder that the person is in, or for `folders`.
function M.start(folders)
  local workspace = require("outrigger.workspace")
  require("outrigger.life").start(folders or workspace.folders() or { vim.fn.getcwd() })
end

--- Starts it if it should start by itself here; `buffer` was just opened.
function M.consider(buffer)
  if not require("outrigger.config").get().auto_start then
    return
  end
  local life = require("outrigger.life")
  local folders = require("outrigger.workspace").folders(buffer)
  if folders and not life.is_wanted() and not life.was_stopped() then
    life.start(folders)
  end
end

--- Stops it. It does not start by itself again in this Neovim.
function M.stop()
  require("outrigger.life").stop()
end

--- Starts it again: same port, same tokens, same proposals.
function M.restart()
  require("outrigger.life").restart()
end

--- Hides from agents what is open, or shows it again.
function M.pause(paused)
  require("outrigger.link").request("outrigger/pause", { paused = paused ~= false })
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

--- The last status: `agents`, `pending`, `heldBack` and `paused`; nil while nothing runs.
function M.status()
  return require("outrigger.status").get()
end

--- The status in a few words, for a status line; empty while nothing runs.
function M.statusline()
  return require("outrigger.status").line()
end

return M
