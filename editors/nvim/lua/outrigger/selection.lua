--- Where the person is: the document in front of them, the cursor, what is selected. It is reported
--- whenever it changes.
---
--- Only documents count. In a terminal, a listing or a prompt the person is still where they were
--- in the last document, so what was selected there stays selected for an agent in the terminal.

local connection = require("outrigger.connection")
local position = require("outrigger.position")

local M = {}

local BLOCK = "\22"
--- Select mode selects as the visual mode of the same kind does.
local KINDS = { v = "v", V = "V", [BLOCK] = BLOCK, s = "v", S = "V", ["\19"] = BLOCK }

--- The kind of selection in this mode: "v", "V" or CTRL-V; nil in a mode that selects nothing.
function M.kind(mode)
  return KINDS[mode:sub(1, 1)]
end

local function line_of(buffer, line)
  return vim.api.nvim_buf_get_lines(buffer, line, line + 1, false)[1] or ""
end

--- The byte after the character at `column`.
local function after(text, column)
  if column >= #text or vim.o.selection == "exclusive" then
    return math.min(column, #text)
  end
  return column + 1 + vim.str_utf_end(text, column + 1)
end

local function is_before(one, other)
  return one.line < other.line or (one.line == other.line and one.column <= other.column)
end

local function characters(buffer, anchor, active)
  local forwards = is_before(anchor, active)
  local first, last = anchor, active
  if not forwards then
    first, last = active, anchor
  end
  local from = position.at(buffer, first.line, first.column)
  local text = line_of(buffer, last.line)
  local to = position.at(buffer, last.line, after(text, last.column))
  local has_next = last.line + 1 < vim.api.nvim_buf_line_count(buffer)
  if last.column >= #text and vim.o.selection ~= "exclusive" and has_next then
    -- The end of the line is selected too.
    to = position.at(buffer, last.line + 1, 0)
  end
  return forwards and { anchor = from, active = to } or { anchor = to, active = from }
end

local function lines(buffer, anchor, active)
  local first, last = math.min(anchor.line, active.line), math.max(anchor.line, active.line)
  local from = position.at(buffer, first, 0)
  local to = position.at(buffer, last, #line_of(buffer, last))
  return anchor.line <= active.line and { anchor = from, active = to } or { anchor = to, active = from }
end

--- The screen columns that the character at `column` begins in and ends before.
local function cells(text, column)
  local begins = vim.fn.strdisplaywidth(text:sub(1, column))
  local character = text:sub(column + 1, column < #text and after(text, column) or column)
  return begins, begins + math.max(1, vim.fn.strdisplaywidth(character, begins))
end

--- The byte where the screen column `cell` of a text is.
local function byte_at(text, cell)
  local column = 0
  while column < #text do
    local _, ends = cells(text, column)
    if ends > cell then
      break
    end
    column = column + 1 + vim.str_utf_end(text, column + 1)
  end
  return column
end

--- One selection for each line, the one that the cursor is in first.
local function block(buffer, anchor, active, to_the_end)
  local anchor_from, anchor_to = cells(line_of(buffer, anchor.line), anchor.column)
  local active_from, active_to = cells(line_of(buffer, active.line), active.column)
  local left, right = math.min(anchor_from, active_from), math.max(anchor_to, active_to)
  local selections = {}
  local step = active.line > anchor.line and -1 or 1
  for line = active.line, anchor.line, step do
    local text = line_of(buffer, line)
    table.insert(selections, {
      anchor = position.at(buffer, line, byte_at(text, left)),
      active = position.at(buffer, line, to_the_end and #text or byte_at(text, right)),
    })
  end
  return selections
end

local function between(buffer, kind, anchor, active)
  if kind == "v" then
    return { characters(buffer, anchor, active) }
  elseif kind == "V" then
    return { lines(buffer, anchor, active) }
  end
  return block(buffer, anchor, active, vim.fn.winsaveview().curswant == vim.v.maxcol)
end

local function place(mark)
  local at = vim.fn.getpos(mark)
  return { line = at[2] - 1, column = math.max(0, at[3] - 1) }
end

--- Every selection of the current window; in a mode that selects nothing, the cursor.
function M.now()
  local buffer = vim.api.nvim_get_current_buf()
  local kind = M.kind(vim.fn.mode())
  if kind then
    return between(buffer, kind, place("v"), place("."))
  end
  local cursor = place(".")
  local at = position.at(buffer, cursor.line, cursor.column)
  return { { anchor = at, active = at } }
end

--- What was selected until a moment ago in the current window.
function M.last(kind)
  local first, last, cursor = place("'<"), place("'>"), place(".")
  local anchor, active = first, last
  if cursor.line == first.line and cursor.column == first.column then
    anchor, active = last, first
  end
  return between(vim.api.nvim_get_current_buf(), kind, anchor, active)
end

--- Neovim sends changed text up to 150 ms after it has changed. A position in the new text must not
--- arrive before it.
local AFTER_CHANGES = 200

--- What was reported last: the buffer, its selections, and the changedtick of its text then.
local reported = {}
local timer = nil

local function send(buffer, selections)
  local document = { uri = vim.uri_from_bufnr(buffer) }
  if reported.buffer ~= buffer then
    connection.notify("textDocument/didFocus", { textDocument = document })
  elseif vim.deep_equal(reported.selections, selections) then
    return
  end
  reported = { buffer = buffer, selections = selections, tick = vim.api.nvim_buf_get_changedtick(buffer) }
  connection.notify("outrigger/selectionChanged", { textDocument = document, selections = selections })
end

local function cancel()
  if timer then
    timer:stop()
    timer:close()
    timer = nil
  end
end

local function report_now()
  local buffer = vim.api.nvim_get_current_buf()
  if connection.knows(buffer) and vim.fn.mode() ~= "c" then
    send(buffer, M.now())
  end
end

--- Reports where the person is, if that has changed.
function M.report()
  local buffer = vim.api.nvim_get_current_buf()
  if not connection.knows(buffer) then
    return
  end
  cancel()
  if reported.buffer == buffer and reported.tick ~= vim.api.nvim_buf_get_changedtick(buffer) then
    timer = vim.defer_fn(function()
      timer = nil
      report_now()
    end, AFTER_CHANGES)
  else
    report_now()
  end
end

--- A selection has ended. If that was because the person went into a terminal or the like, it stays.
local function selection_ended(kind)
  local buffer = vim.api.nvim_get_current_buf()
  if not connection.knows(buffer) then
    return
  end
  local selections = M.last(kind)
  vim.schedule(function()
    if vim.api.nvim_get_current_buf() == buffer then
      M.report()
    elseif vim.api.nvim_buf_is_valid(buffer) and not connection.knows(0) then
      send(buffer, selections)
    end
  end)
end

--- The next companion knows nothing of this.
function M.forget()
  cancel()
  reported = {}
end

function M.listen(on)
  on({ "BufEnter", "WinEnter", "CursorMoved", "CursorMovedI" }, M.report)
  on("ModeChanged", function()
    local kind = M.kind(vim.v.event.old_mode)
    if kind and not M.kind(vim.v.event.new_mode) then
      selection_ended(kind)
    else
      M.report()
    end
  end)
end

return M
