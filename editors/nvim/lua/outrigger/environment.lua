--- The variables with which agents in a terminal of this Neovim find it before any other.
---
--- Neovim has no environment for terminals alone: what it has itself is what every process that it
--- starts inherits. So that is where the variables go. They hold secrets and are never logged.

local config = require("outrigger.config")

local M = {}

--- What the variables were before, by name; `false` for those that were not set.
local before = {}

function M.set(variables)
  if not config.get().environment then
    return
  end
  for name, value in pairs(variables) do
    if before[name] == nil then
      before[name] = vim.env[name] or false
    end
    vim.env[name] = value
  end
end

function M.unset()
  for name, value in pairs(before) do
    vim.env[name] = value or nil
  end
  before = {}
end

return M
