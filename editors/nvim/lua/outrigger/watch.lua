--- Tells when a file changes on disk.

local uv = vim.uv or vim.loop

local M = {}

--- How often a file is looked at, in milliseconds.
local INTERVAL = 200

--- Calls `changed` whenever the file at `path` has changed or appeared. Returns what ends it.
function M.file(path, changed)
  local poll = uv.new_fs_poll()
  poll:start(path, INTERVAL, function(err)
    if not err then
      vim.schedule(function()
        if not poll:is_closing() then
          changed()
        end
      end)
    end
  end)
  return function()
    if not poll:is_closing() then
      poll:stop()
      poll:close()
    end
  end
end

return M
