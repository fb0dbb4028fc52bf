--- Loads a file again once the agent has written it.
---
--- Neovim looks at files when it gets the focus; an agent in a terminal beside it, or inside it, gives
--- no such sign. So a file that was just decided is looked at for a while. Each look compares it with
--- what the buffer was read from: an agent may write before the first look, and in several steps.

local documents = require("outrigger.documents")
local message = require("outrigger.message")
local text = require("outrigger.text")

local uv = vim.uv or vim.loop

local M = {}

--- How often the file is looked at, in milliseconds, and how many times.
local INTERVAL = 200
local LOOKS = 100

local group = vim.api.nvim_create_augroup("outrigger_reload", {})
--- What ends the looks at a buffer's file, by buffer.
local looking = {}

--- A buffer with unsaved changes stays as it is: a question in the middle of something else would take
--- the next key for its answer, and Neovim asks before it overwrites the file with it. But if those
--- are the changes that were merged into what the agent has written, nothing is lost.
local function choose(path, buffer, merged)
  local is_merged = merged and text.is_same(text.join(buffer), merged)
  if vim.v.fcs_reason == "conflict" and not is_merged then
    vim.v.fcs_choice = ""
    -- Later, because the look itself is silent.
    vim.schedule(function()
      message.warn(vim.fn.fnamemodify(path, ":t") .. " was written by the agent; your buffer has unsaved changes")
    end)
  else
    vim.v.fcs_choice = "reload"
  end
end

--- The text must not change under a command that is being typed, or an insertion into it.
local function may_look(buffer)
  local mode = vim.fn.mode()
  return mode:match("^[nt]") or (buffer ~= vim.api.nvim_get_current_buf() and not mode:match("^[cr!]"))
end

--- Whether a look at the file can only find a file. Neovim would wait at a pipe that is in its place
--- for somebody to write into it, and do nothing else.
local function is_regular(path)
  local found = uv.fs_stat(path)
  return found == nil or found.type == "file"
end

--- The agent may write the file at `path` any moment. `merged` is the text of the buffer that is part
--- of what it writes, if the person has accepted that.
function M.expect(path, merged)
  local buffer = documents.at(path)
  if not buffer then
    return
  end
  if looking[buffer] then
    looking[buffer]()
  end
  local timer = uv.new_timer()
  local on_change = vim.api.nvim_create_autocmd("FileChangedShell", {
    group = group,
    buffer = buffer,
    callback = function()
      choose(path, buffer, merged)
    end,
  })
  local function stop()
    if looking[buffer] == stop then
      looking[buffer] = nil
      timer:close()
      pcall(vim.api.nvim_del_autocmd, on_change)
    end
  end
  looking[buffer] = stop
  local looks = 0
  timer:start(INTERVAL, INTERVAL, vim.schedule_wrap(function()
    looks = looks + 1
    if looking[buffer] ~= stop then
      return
    elseif looks > LOOKS or not vim.api.nvim_buf_is_loaded(buffer) then
      stop()
    elseif may_look(buffer) and is_regular(vim.api.nvim_buf_get_name(buffer)) then
      vim.cmd("silent! checktime " .. buffer)
    end
  end))
end

return M
