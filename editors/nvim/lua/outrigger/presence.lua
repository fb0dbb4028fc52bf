--- Where the person is, told whenever it changes.
---
--- Only documents count. In a terminal, a listing or a prompt the person is still where they were
--- in the last document, so what was selected there stays selected for an agent in the terminal.

local link = require("outrigger.link")
local selection = require("outrigger.selection")

local M = {}

--- Neovim sends changed text up to 150 ms after it has changed. A place in the new text must not
--- arrive before it.
local AFTER_CHANGES = 200

--- What was told last: the buffer, its selections, and the state of its text then.
local told = {}
local timer = nil

local function tell(buffer, selections)
  local document = { uri = vim.uri_from_bufnr(buffer) }
  if told.buffer ~= buffer then
    link.notify("textDocument/didFocus", { textDocument = document })
  elseif vim.deep_equal(told.selections, selections) then
    return
  end
  told = { buffer = buffer, selections = selections, tick = vim.api.nvim_buf_get_changedtick(buffer) }
  link.notify("outrigger/selectionChanged", { textDocument = document, selections = selections })
end

local function cancel()
  if timer then
    timer:stop()
    timer:close()
    timer = nil
  end
end

local function tell_now()
  local buffer = vim.api.nvim_get_current_buf()
  if link.knows(buffer) and vim.fn.mode() ~= "c" then
    tell(buffer, selection.now())
  end
end

--- Tells where the person is, if that is news.
function M.look()
  local buffer = vim.api.nvim_get_current_buf()
  if not link.knows(buffer) then
    return
  end
  cancel()
  if told.buffer == buffer and told.tick ~= vim.api.nvim_buf_get_changedtick(buffer) then
    timer = vim.defer_fn(function()
      timer = nil
      tell_now()
    end, AFTER_CHANGES)
  else
    tell_now()
  end
end

--- A selection has ended. If that was because the person went elsewhere, it stays.
local function leave_selection(kind)
  local buffer = vim.api.nvim_get_current_buf()
  if not link.knows(buffer) then
    return
  end
  local selections = selection.last(kind)
  vim.schedule(function()
    if vim.api.nvim_get_current_buf() == buffer then
      M.look()
    elseif vim.api.nvim_buf_is_valid(buffer) and not link.knows(0) then
      tell(buffer, selections)
    end
  end)
end

--- The next companion has been told nothing.
function M.forget()
  cancel()
  told = {}
end

function M.listen(on)
  on({ "BufEnter", "WinEnter", "CursorMoved", "CursorMovedI" }, M.look)
  on("ModeChanged", function()
    local kind = selection.kind(vim.v.event.old_mode)
    if kind and not selection.kind(vim.v.event.new_mode) then
      leave_selection(kind)
    else
      M.look()
    end
  end)
  local named = {}
  on("BufFilePre", function(it)
    named[it.buf] = link.knows(it.buf) and vim.uri_from_bufnr(it.buf) or nil
  end)
  on("BufFilePost", function(it)
    local before = named[it.buf]
    named[it.buf] = nil
    if before then
      local renamed = { oldUri = before, newUri = vim.uri_from_bufnr(it.buf) }
      link.notify("workspace/didRenameFiles", { files = { renamed } })
      told = {}
      M.look()
    end
  end)
end

return M
