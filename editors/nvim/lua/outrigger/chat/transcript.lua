--- The buffer with the conversation.
---
--- What is new is put where it belongs, and nothing else is touched: a long conversation costs no
--- more than a short one, and nobody who reads is disturbed. From top to bottom there is a head, a
--- block for each entry, and a tail. Nothing else writes here, so that counting lines is enough to
--- find one of them.

local entries = require("outrigger.chat.entries")

local M = {}
M.__index = M

local NAME = "outrigger://chat"
local HEADINGS = vim.api.nvim_create_namespace("outrigger_chat")

--- An empty buffer.
function M.new()
  local self = setmetatable({ blocks = {}, head = 1, tail = 0 }, M)
  self.buffer = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(self.buffer, NAME)
  vim.bo[self.buffer].filetype = "outrigger-chat"
  -- Only the colours: whatever else is set up for Markdown is meant for files.
  vim.bo[self.buffer].syntax = "markdown"
  vim.bo[self.buffer].undolevels = -1
  vim.bo[self.buffer].modifiable = false
  vim.api.nvim_set_hl(0, "OutriggerHeading", { link = "Title", default = true })
  return self
end

--- Whether the buffer is still there, with what was written to it.
function M:is_alive()
  return vim.api.nvim_buf_is_loaded(self.buffer)
end

function M:count()
  return vim.api.nvim_buf_line_count(self.buffer)
end

--- Lets `write` change the buffer. Whoever is at its end stays there.
function M:change(write)
  local last = self:count()
  local following = vim.tbl_filter(function(window)
    return vim.api.nvim_win_get_cursor(window)[1] == last
  end, vim.fn.win_findbuf(self.buffer))
  vim.bo[self.buffer].modifiable = true
  write()
  vim.bo[self.buffer].modifiable = false
  for _, window in ipairs(following) do
    vim.api.nvim_win_set_cursor(window, { self:count(), 0 })
  end
end

--- Puts `lines` in the place of `height` lines from `row` on; those that stay are left alone.
function M:replace(row, height, lines)
  local before = vim.api.nvim_buf_get_lines(self.buffer, row, row + height, true)
  local same = 0
  while same < height and before[same + 1] == lines[same + 1] do
    same = same + 1
  end
  local new = vim.list_slice(lines, same + 1)
  if same < height or #new > 0 then
    vim.api.nvim_buf_set_lines(self.buffer, row + same, row + height, true, new)
  end
end

--- The block of an entry, and the row it begins at. The last one is found first.
function M:find(id)
  local row = self:count() - self.tail
  for at = #self.blocks, 1, -1 do
    local block = self.blocks[at]
    row = row - block.height
    if block.id == id then
      return block, row
    end
  end
end

function M:colour(block, row, heading)
  vim.api.nvim_buf_set_extmark(self.buffer, HEADINGS, row, 0, {
    id = block.id,
    end_col = #heading,
    hl_group = "OutriggerHeading",
  })
end

--- Writes everything anew.
function M:reset(all)
  self:change(function()
    local lines = vim.api.nvim_buf_get_lines(self.buffer, 0, self.head, true)
    self.blocks, self.tail = {}, 0
    local places = {}
    for _, entry in ipairs(all) do
      local own = entries.lines(entry)
      table.insert(self.blocks, { id = entry.id, speaker = entry.speaker, height = #own })
      table.insert(places, { #lines, own[1] })
      vim.list_extend(lines, own)
    end
    vim.api.nvim_buf_clear_namespace(self.buffer, HEADINGS, 0, -1)
    vim.api.nvim_buf_set_lines(self.buffer, 0, -1, true, lines)
    for at, block in ipairs(self.blocks) do
      self:colour(block, unpack(places[at]))
    end
  end)
end

--- An entry is new, or is another one now.
function M:put(entry)
  self:change(function()
    local lines = entries.lines(entry)
    local block, row = self:find(entry.id)
    if not block then
      block = { id = entry.id, height = 0 }
      row = self:count() - self.tail
      table.insert(self.blocks, block)
    end
    self:replace(row, block.height, lines)
    block.height, block.speaker = #lines, entry.speaker
    self:colour(block, row, lines[1])
  end)
end

--- An entry goes on.
function M:append(id, text)
  local block, row = self:find(id)
  if not block then
    return
  end
  self:change(function()
    local lines = entries.more(block.speaker, text)
    -- An empty line ends the block.
    local last = row + block.height - 2
    local column = #vim.api.nvim_buf_get_lines(self.buffer, last, last + 1, true)[1]
    vim.api.nvim_buf_set_text(self.buffer, last, column, last, column, lines)
    block.height = block.height + #lines - 1
  end)
end

--- Entries with a smaller number than `first` are gone.
function M:shorten(first)
  local height = 0
  while self.blocks[1] and self.blocks[1].id < first do
    height = height + table.remove(self.blocks, 1).height
  end
  self:change(function()
    vim.api.nvim_buf_clear_namespace(self.buffer, HEADINGS, self.head, self.head + height)
    vim.api.nvim_buf_set_lines(self.buffer, self.head, self.head + height, true, {})
  end)
end

--- What stands above all entries; at least one line.
function M:set_head(lines)
  self:change(function()
    self:replace(0, self.head, lines)
    self.head = #lines
  end)
end

--- What stands below them.
function M:set_tail(lines)
  self:change(function()
    self:replace(self:count() - self.tail, self.tail, lines)
    self.tail = #lines
  end)
end

return M
