--- Whether the person may be interrupted.

local config = require("outrigger.config")

local uv = vim.uv or vim.loop

local M = {}

--- Somebody who pressed a key this recently is still typing, in milliseconds. A diff that came
--- between `:w` and its Enter would be accepted unseen.
local PAUSE = 600

local pressed = 0

--- How often to look whether the person may be interrupted, in milliseconds.
local GLANCE = 200

--- Returns what calls `look` soon, and then again and again for as long as it returns true.
function M.watcher(look)
  local looking = false
  local function glance()
    looking = false
    -- What is asked for while it looks counts as well.
    if look() and not looking then
      looking = true
      vim.defer_fn(glance, GLANCE)
    end
  end
  return function()
    if not looking then
      looking = true
      vim.schedule(glance)
    end
  end
end

--- Listens for keys from now on.
function M.listen()
  vim.on_key(function()
    pressed = uv.now()
  end, vim.api.nvim_create_namespace("outrigger"))
end

--- Whether a diff may come to the front now: in normal mode, outside of terminals and prompts, and
--- after a pause.
function M.is_free()
  local focus = config.get().focus
  if focus ~= "idle" then
    return focus == "always"
  end
  local mode = vim.api.nvim_get_mode()
  local buftype = vim.bo.buftype
  return mode.mode == "n"
    and not mode.blocking
    and buftype ~= "terminal"
    and buftype ~= "prompt"
    and vim.fn.getcmdwintype() == ""
    and uv.now() - pressed > PAUSE
end

return M
