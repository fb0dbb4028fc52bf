--- What the person is told. At the bottom it is always one line: a longer one would make Neovim ask for
--- Enter. What does not fit there, or would not be seen because the person is inserting text, stands
--- in a small window above the text for a few seconds.

local log = require("outrigger.log")
local text_of = require("outrigger.text")

local M = {}

--- How many characters of somebody else's text fit into a line with our own words.
local BRIEF = 40
--- How long a notice stays, in milliseconds, and how many columns wide it is at most.
local STAYS = 8000
local WIDEST = 60

local told = {}
--- The window with a notice.
local notice = nil

--- Takes the notice away, if there is one.
function M.hide()
  if notice and vim.api.nvim_win_is_valid(notice) then
    pcall(vim.api.nvim_win_close, notice, true)
  end
  notice = nil
end

--- Neovim 0.11.4 crashes if a tab loses its last other window by `:checkhealth` in its own report.
vim.api.nvim_create_autocmd("WinClosed", {
  group = vim.api.nvim_create_augroup("outrigger_notice", {}),
  callback = function(it)
    if notice and tonumber(it.match) ~= notice then
      M.hide()
    end
  end,
})

local function wrapped(text, width)
  local lines, line = {}, ""
  for word in text:gmatch("%S+") do
    if line ~= "" and vim.fn.strdisplaywidth(line .. " " .. word) > width then
      table.insert(lines, line)
      line = word
    else
      line = line == "" and word or line .. " " .. word
    end
  end
  table.insert(lines, line)
  return lines
end

local function show_notice(text)
  M.hide()
  local lines = wrapped(text, math.min(WIDEST, vim.o.columns - 4))
  local width = 1
  for _, line in ipairs(lines) do
    width = math.max(width, vim.fn.strdisplaywidth(line))
  end
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.bo[buffer].bufhidden = "wipe"
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, lines)
  local place = { relative = "editor", anchor = "NE", row = 1, col = vim.o.columns, focusable = false }
  local form = { width = width, height = #lines, style = "minimal", border = "single", noautocmd = true }
  local window = vim.api.nvim_open_win(buffer, false, vim.tbl_extend("error", place, form))
  notice = window
  vim.defer_fn(function()
    if notice == window then
      M.hide()
    end
  end, STAYS)
end

--- Whether the person has no other way of being notified than Neovim's own, a line at the bottom.
local function is_plain()
  return vim.startswith(debug.getinfo(vim.notify, "S").source, "@vim/")
end

--- A text in one line. Line breaks of our own are spaces; whatever else steers a screen is shown.
local function in_a_line(text)
  return text_of.one_line((text:gsub("%s+", " ")))
end

local function tell(level, text)
  local line = "outrigger: " .. in_a_line(text)
  if is_plain() then
    local room = vim.o.columns - 12
    local is_long = vim.fn.strdisplaywidth(line) > room
    if is_long or vim.fn.mode():match("^[iR]") then
      -- Where no window may be opened, the line has to do.
      pcall(show_notice, line)
    end
    if is_long then
      log.add(line)
      line = vim.fn.strcharpart(line, 0, room - 1) .. "…"
    end
  end
  vim.notify(line, level, { title = "Outrigger" })
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
  local line = in_a_line(text)
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
