--- What the person says about conversations with a daemon, as the program takes it.
---
--- Only names and types are checked here, because the program would tell of those in the log alone.
--- Whether an address or a mode can be used is the program's business.

local uv = vim.uv or vim.loop

local M = {}

--- What can be said, in the order in which it is listed.
local NAMES = { "enabled", "url", "token_file", "mode", "model" }
--- What the program calls it, where that is something else.
local WIRE = { token_file = "tokenFile" }

--- What ends every sentence about a mistake. Without it, conversations would go to another daemon than
--- the one that was meant, or in another mode.
local OFF = ", so there are no conversations; see :help outrigger-daemon"

--- The program wants an absolute path.
local function without_tilde(path)
  return path:sub(1, 2) == "~/" and uv.os_homedir() .. path:sub(2) or path
end

--- What is sent, which is nil if nothing was said, and what is wrong, as sentences. `source` is what the
--- person calls the option.
function M.read(said, source)
  if said == nil or type(said) == "boolean" then
    return said, {}
  elseif type(said) ~= "table" then
    return false, { ("the option %q has to be true, false or a table"):format(source) .. OFF }
  end
  local sent, mistakes, unknown = nil, {}, {}
  for _, name in ipairs(NAMES) do
    local value, wanted = said[name], name == "enabled" and "boolean" or "string"
    if type(value) == wanted then
      sent = sent or {}
      sent[WIRE[name] or name] = name == "token_file" and without_tilde(value) or value
    elseif value ~= nil then
      local words = wanted == "boolean" and "true or false" or "a string"
      table.insert(mistakes, ("the option %q has to be %s"):format(source .. "." .. name, words) .. OFF)
    end
  end
  for name in pairs(said) do
    local option = ("%s.%s"):format(source, name)
    if name == "token" then
      local advice = "write the token to a file that only you can read, and name it in %q"
      local why = ("the option %q is not taken, because settings are copied and shared: " .. advice)
      table.insert(mistakes, why:format(option, source .. ".token_file") .. OFF)
    elseif not vim.tbl_contains(NAMES, name) then
      local known = table.concat(NAMES, ", ")
      table.insert(unknown, ("there is no option %q; known are %s"):format(option, known))
    end
  end
  table.sort(unknown)
  if #mistakes > 0 then
    sent = false
  end
  return sent, vim.list_extend(mistakes, unknown)
end

return M
