--- What the person is told, always in one line: a longer one would make Neovim ask for Enter.

local M = {}

--- How many characters of somebody else's text fit into a line with our own words.
local BRIEF = 40

local told = {}

local function tell(level, text)
  vim.notify("outrigger: " .. text, level, { title = "Outrigger" })
end

function M.info(text)
  tell(vim.log.levels.INFO, text)
end

function M.warn(text)
  tell(vim.log.levels.WARN, text)
end

function M.error(text)
  tell(vim.log.levels.ERROR, text)
end

--- Says something after a picker. Below what is left of that it would make Neovim ask for Enter.
function M.after_picker(text)
  vim.schedule(function()
    vim.cmd("redraw")
    M.info(text)
  end)
end

--- The beginning of a text that somebody else wrote, short enough for a line.
function M.brief(text)
  local line = text:gsub("%s+", " ")
  return vim.fn.strchars(line) > BRIEF and vim.fn.strcharpart(line, 0, BRIEF) .. "…" or line
end

--- Says something that is worth saying once.
function M.once(key, level, text)
  if not told[key] then
    told[key] = true
    tell(level, text)
  end
end

return M
