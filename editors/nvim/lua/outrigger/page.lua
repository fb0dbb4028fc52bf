--- The companion's page in a browser.

local connection = require("outrigger.connection")
local message = require("outrigger.message")

local M = {}

--- Neovim has it since 0.10.
local function visit(url)
  if vim.ui.open then
    vim.ui.open(url)
    return
  end
  local opener = vim.fn.has("mac") == 1 and "open" or "xdg-open"
  if vim.fn.executable(opener) == 1 then
    vim.fn.jobstart({ opener, url }, { detach = true })
  else
    message.info("the page is at " .. url)
  end
end

--- Asks the companion for a link, which works once, and opens it.
function M.open()
  connection.request("outrigger/page", nil, function(page)
    visit(page.url)
  end)
end

return M
