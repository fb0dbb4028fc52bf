--- Places in a buffer, counted as the companion and Neovim have agreed on.

local connection = require("outrigger.connection")

local M = {}

-- Neovim 0.11 took the encoding as an argument; before, both counts were returned.
local takes_encoding = pcall(vim.str_utfindex, "", "utf-16")

local function units(text, bytes, encoding)
  if encoding == "utf-8" then
    return bytes
  end
  if takes_encoding then
    return vim.str_utfindex(text, encoding, bytes, false)
  end
  local utf32, utf16 = vim.str_utfindex(text, bytes)
  return encoding == "utf-16" and utf16 or utf32
end

--- The place before the byte `column` of a line, both counted from zero. What is outside of the
--- buffer means its nearest end.
function M.at(buffer, line, column)
  line = math.max(0, math.min(line, vim.api.nvim_buf_line_count(buffer) - 1))
  local text = vim.api.nvim_buf_get_lines(buffer, line, line + 1, false)[1] or ""
  column = math.max(0, math.min(column, #text))
  return { line = line, character = units(text, column, connection.encoding()) }
end

return M
