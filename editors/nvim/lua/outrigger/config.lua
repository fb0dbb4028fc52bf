--- The person's options: from `setup()`, else from `vim.g.outrigger_<name>`, else the default.

local daemon = require("outrigger.daemon")
local message = require("outrigger.message")

local M = {}

--- Every option with its default, and the types that it may have, or a function that reads it.
local OPTIONS = {
  cmd = { default = { "outrigger", "lsp" }, types = { "table" } },
  auto_start = { default = true, types = { "boolean" } },
  roots = { default = nil, types = { "table", "function" } },
  markers = { default = { ".git", ".hg", ".jj", ".svn" }, types = { "table" } },
  focus = { default = "idle", values = { "idle", "always", "never" } },
  agents = { default = nil, types = { "table" } },
  ignore = { default = {}, types = { "table" } },
  max_bytes = { default = 4 * 1024 * 1024, types = { "number" } },
  environment = { default = true, types = { "boolean" } },
  daemon = { default = nil, read = daemon.read },
}

local chosen = {}

local function is_valid(option, value)
  if option.values then
    return vim.tbl_contains(option.values, value)
  end
  return vim.tbl_contains(option.types, type(value))
end

--- The value if it can be used; what cannot is told once and ignored. `source` is what the person calls
--- the option.
local function checked(name, value, source)
  local option = OPTIONS[name]
  if option.read then
    local read, complaints = option.read(value, source)
    for _, complaint in ipairs(complaints) do
      message.once(complaint, vim.log.levels.WARN, complaint)
    end
    return read
  end
  if value == nil or is_valid(option, value) then
    return value
  end
  local what = source == name and ("the option %q"):format(name) or source
  message.once(what, vim.log.levels.WARN, ("%s is not valid, see :help outrigger-%s"):format(what, name))
  return nil
end

function M.set(options)
  for name in pairs(options) do
    if not OPTIONS[name] then
      message.once(name, vim.log.levels.WARN, ("there is no option %q, see :help outrigger-options"):format(name))
    end
  end
  chosen = options
end

function M.get()
  local options = {}
  for name, option in pairs(OPTIONS) do
    local value = checked(name, chosen[name], name)
    if value == nil then
      local variable = "outrigger_" .. name
      value = checked(name, vim.g[variable], "g:" .. variable)
    end
    if value == nil then
      value = option.default
    end
    options[name] = value
  end
  return options
end

return M
