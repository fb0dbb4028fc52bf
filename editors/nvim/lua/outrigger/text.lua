--- Texts as bytes, and as the lines and options of a buffer. What goes in comes out, byte for byte.

local M = {}

local BOM = "\239\187\191"
local ENDINGS = { unix = "\n", dos = "\r\n", mac = "\r" }

local function all_end_in_crlf(text)
  local _, ends = text:gsub("\n", "")
  local _, crlf = text:gsub("\r\n", "")
  return ends > 0 and ends == crlf
end

--- The lines of a text, and the options of a buffer that would be written as this text.
function M.split(text)
  local options = { fileencoding = "utf-8", fixendofline = false }
  options.bomb = vim.startswith(text, BOM)
  if options.bomb then
    text = text:sub(#BOM + 1)
  end
  -- A carriage return that does not end every line is part of its line.
  options.fileformat = all_end_in_crlf(text) and "dos" or "unix"
  local ending = ENDINGS[options.fileformat]
  options.endofline = vim.endswith(text, ending)
  if options.endofline then
    text = text:sub(1, -#ending - 1)
  end
  return vim.split(text, ending, { plain = true }), options
end

--- The text that a buffer stands for.
function M.join(buffer)
  local options = vim.bo[buffer]
  local ending = ENDINGS[options.fileformat]
  local lines = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
  local text = table.concat(lines, ending)
  return (options.bomb and BOM or "") .. text .. (options.endofline and ending or "")
end

--- Makes a buffer stand for a text.
function M.fill(buffer, text)
  local lines, options = M.split(text)
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, lines)
  for name, value in pairs(options) do
    vim.bo[buffer][name] = value
  end
end

--- Where line `at` of the lines `before` is in the lines `after`, or what is in its place.
function M.moved(before, after, at)
  local same = 0
  while same < #before and before[same + 1] == after[same + 1] do
    same = same + 1
  end
  if at <= same then
    return at
  end
  local left = 0
  while left < #before - same and left < #after - same and before[#before - left] == after[#after - left] do
    left = left + 1
  end
  if at > #before - left then
    return at + #after - #before
  end
  return math.max(math.min(at, #after - left), 1)
end

--- Whether two texts are the same but for their line endings and byte order mark.
function M.is_same(a, b)
  local function plain(text)
    return (vim.startswith(text, BOM) and text:sub(#BOM + 1) or text):gsub("\r\n", "\n")
  end
  return (plain(a)) == (plain(b))
end

return M
