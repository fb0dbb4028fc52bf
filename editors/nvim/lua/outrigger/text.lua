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

--- Characters that would steer the screen instead of being seen, from the first to the last. The
--- program has the same list. Joiners are not among them: scripts and emoji need them.
local STEERING = {
  { 0x7f, 0x9f },
  { 0xad, 0xad },
  { 0x61c, 0x61c },
  { 0x115f, 0x1160 },
  { 0x180e, 0x180e },
  { 0x200b, 0x200b },
  { 0x200e, 0x200f },
  { 0x2028, 0x202e },
  { 0x2060, 0x206f },
  { 0x3164, 0x3164 },
  { 0xfeff, 0xfeff },
  { 0xffa0, 0xffa0 },
  { 0xfff9, 0xfffb },
  { 0xe0000, 0xe007f },
}

local function shown(character)
  local code = vim.fn.char2nr(character)
  for _, range in ipairs(STEERING) do
    if range[1] <= code and code <= range[2] then
      return ("<U+%04X>"):format(code)
    end
  end
end

--- Somebody else's text in one line, with everything in it to be seen: names and paths in messages, in
--- lines above and below windows, and in names of buffers.
function M.one_line(text)
  return (M.visible(text):gsub("\t", "␉"))
end

--- The same with its tabs.
function M.visible(line)
  line = line:gsub("[%z\1-\8\10-\31]", function(control)
    -- The pictures of these characters are in the same order as the characters.
    return "\226\144" .. string.char(128 + control:byte())
  end)
  return (line:gsub("[\127\194-\244][\128-\191]*", shown))
end

--- Each line of somebody else's text, with everything in it to be seen.
function M.visible_lines(text)
  return vim.tbl_map(M.visible, vim.split(text:gsub("\r\n", "\n"), "\n", { plain = true }))
end

return M
