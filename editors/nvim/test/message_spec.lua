local message = require("outrigger.message")

--- The lines of the windows that only say something.
local function notices()
  local found = {}
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(window).relative ~= "" then
      local lines = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false)
      table.insert(found, table.concat(lines, " "))
    end
  end
  return found
end

local function last_message()
  return vim.fn.split(vim.fn.execute("messages"), "\n")[#vim.fn.split(vim.fn.execute("messages"), "\n")]
end

it("what does not fit into a line is in a notice, and its beginning in the messages", function()
  message.hide()
  message.info("short")
  same(notices(), {})
  same(last_message(), "outrigger: short")
  local long = ("word "):rep(40) .. "end"
  message.warn(long)
  same(notices(), { "outrigger: " .. long })
  same(vim.fn.strdisplaywidth(last_message()) < vim.o.columns - 11, true, last_message())
  message.info("short")
  same(#notices(), 1, "the notice stays")
  message.warn("another " .. long)
  same(notices(), { "outrigger: another " .. long })
  message.hide()
  same(notices(), {})
end)

it("somebody who inserts text sees a notice", function()
  _G.say = function()
    message.info("short")
    return ""
  end
  local keys = vim.api.nvim_replace_termcodes("i<Cmd>lua say()<CR><Esc>", true, false, true)
  vim.api.nvim_feedkeys(keys, "xt", false)
  same(notices(), { "outrigger: short" })
  message.hide()
end)

it("a notifier of the person's own gets the whole text, and no notice is shown", function()
  local heard, notify = {}, vim.notify
  vim.notify = function(text)
    table.insert(heard, text)
  end
  local long = ("word "):rep(40) .. "end"
  message.warn(long)
  vim.notify = notify
  same(heard, { "outrigger: " .. long })
  same(notices(), {})
end)
