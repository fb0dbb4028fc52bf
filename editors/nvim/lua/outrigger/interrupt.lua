--- May the person be interrupted now? Only then does a diff come to the front, or a picker open. The
--- rule is the same in all plugins, see editors/README.md.

local config = require("outrigger.config")

local uv = vim.uv or vim.loop

local M = {}

--- Somebody who pressed a key this recently is still typing, in milliseconds. A diff that came
--- between `:w` and its Enter would be accepted unseen.
M.PAUSE = 600

--- What keeps from interrupting, in the order in which it is looked at.
M.REASONS = { "insert", "selection", "operator", "prompt", "terminal", "popup", "macro", "review" }

--- How often to look again, in milliseconds.
local INTERVAL = 200

local pressed = 0

--- Listens for keys from now on.
function M.listen()
  vim.on_key(function()
    pressed = uv.now()
  end, vim.api.nvim_create_namespace("outrigger"))
end

--- Whether the person is in a floating window, as pickers of plugins are.
local function is_floating()
  return vim.api.nvim_win_get_config(0).relative ~= ""
end

--- What the person is in the middle of, by the names in `REASONS`, and how long they have been `idle`.
function M.facts()
  local now = vim.api.nvim_get_mode()
  local mode, buftype = now.mode, vim.bo.buftype
  return {
    insert = mode:find("^[iR]") ~= nil or mode:find("^ni") ~= nil,
    selection = mode:find("^[vVsS\22\19]") ~= nil,
    -- While Neovim waits for the rest of a command, it says that it is blocked.
    operator = mode:find("^no") ~= nil or now.blocking,
    prompt = mode:find("^[cr!]") ~= nil or buftype == "prompt" or vim.fn.getcmdwintype() ~= "",
    terminal = mode:find("^t") ~= nil or buftype == "terminal",
    popup = vim.fn.pumvisible() == 1 or is_floating(),
    macro = vim.fn.reg_recording() ~= "" or vim.fn.reg_executing() ~= "",
    review = vim.api.nvim_buf_get_name(0):find("^outrigger://%d+/") ~= nil,
    idle = uv.now() - pressed,
  }
end

--- The first reason not to interrupt now; nil if there is none.
function M.reason(facts)
  for _, reason in ipairs(M.REASONS) do
    if facts[reason] then
      return reason
    end
  end
  return facts.idle <= M.PAUSE and "pause" or nil
end

--- Whether the person may be interrupted now. The option `focus` goes before the rule.
function M.is_allowed()
  local focus = config.get().focus
  if focus ~= "idle" then
    return focus == "always"
  end
  return M.reason(M.facts()) == nil
end

--- Returns a function that calls `look` soon, and then again and again for as long as it returns true.
function M.watcher(look)
  local scheduled = false
  local function run()
    scheduled = false
    -- `look` may itself have asked for another look.
    if look() and not scheduled then
      scheduled = true
      vim.defer_fn(run, INTERVAL)
    end
  end
  return function()
    if not scheduled then
      scheduled = true
      vim.schedule(run)
    end
  end
end

return M
