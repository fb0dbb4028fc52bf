--- Loads a file again once the agent has written it.

local documents = require("outrigger.documents")
local message = require("outrigger.message")
local watch = require("outrigger.watch")

local M = {}

--- How long an agent may take to write what was accepted, in milliseconds.
local WRITING = 20 * 1000

--- The agent may write the file at `path` any moment. A buffer with unsaved changes stays as it is:
--- Neovim asks before it overwrites the file with it.
function M.expect(path)
  local stop
  stop = watch.file(path, function()
    stop()
    local buffer = documents.at(path)
    if buffer and vim.bo[buffer].modified then
      message.warn(vim.fn.fnamemodify(path, ":t") .. " was written by the agent; your buffer has unsaved changes")
    elseif buffer then
      vim.cmd("checktime " .. buffer)
    end
  end)
  vim.defer_fn(stop, WRITING)
end

return M
