local config = require("outrigger.config")

--- What was said while `body` ran.
local function said(body)
  local heard, notify = {}, vim.notify
  vim.notify = function(text)
    table.insert(heard, text)
  end
  body()
  vim.notify = notify
  return heard
end

it("options come from setup, else from a variable, else from the defaults", function()
  same(config.get().cmd, { "outrigger", "lsp" })
  vim.g.outrigger_focus = "never"
  same(config.get().focus, "never")
  config.set({ focus = "always" })
  same(config.get().focus, "always")
  config.set({})
  vim.g.outrigger_focus = nil
  same(config.get().focus, "idle")
  vim.g.outrigger_auto_start = false
  same(config.get().auto_start, false)
  vim.g.outrigger_auto_start = nil
end)

it("what is wrong is said once, and the default is taken", function()
  local heard = said(function()
    config.set({ focus = "sometimes", colour = "red", cmd = "outrigger lsp" })
    same(config.get().focus, "idle")
    same(config.get().cmd, { "outrigger", "lsp" })
    config.get()
  end)
  config.set({})
  same(#heard, 3, vim.inspect(heard))
end)

it("the command completes what can follow", function()
  local complete = require("outrigger.command").complete
  same(complete("Outrigger re"), { "reject", "restart", "resume" })
  same(complete("Outrigger accept "), {})
  same(#complete("Outrigger "), 19)
end)
