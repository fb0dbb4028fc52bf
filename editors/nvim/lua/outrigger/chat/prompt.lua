--- The buffer in which the person writes what they say.

local windows = require("outrigger.chat.windows")
local connection = require("outrigger.connection")

local M = {}

local NAME = "outrigger://say"
--- How long a list of files may take, in milliseconds.
local PATIENCE = 1000

local buffer = nil
--- What can be said with a slash before it, as `status` has it.
local commands = {}

--- The buffer, made if need be. `say` is called to send what is in it, `stop` to end the turn.
function M.buffer(say, stop)
  if buffer and vim.api.nvim_buf_is_loaded(buffer) then
    return buffer
  elseif buffer and vim.api.nvim_buf_is_valid(buffer) then
    vim.api.nvim_buf_delete(buffer, { force = true })
  end
  buffer = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(buffer, NAME)
  vim.bo[buffer].filetype = "outrigger-say"
  vim.bo[buffer].omnifunc = "v:lua.require'outrigger.chat.prompt'.complete"
  local function map(mode, key, what, desc)
    vim.keymap.set(mode, key, what, { buffer = buffer, desc = desc })
  end
  map("n", "<CR>", say, "Say this")
  map({ "n", "i" }, "<C-s>", say, "Say this")
  map("n", "<C-c>", stop, "End what the agent is doing")
  windows.prepare_prompt(buffer)
  return buffer
end

--- Takes what was written, and empties the buffer; |undo| brings it back.
function M.take()
  local text = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), "\n")
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, {})
  return text
end

--- Puts a text back that could not be said, unless there is another one by now.
function M.restore(text)
  if buffer and vim.api.nvim_buf_is_loaded(buffer) then
    local now = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
    if #now == 1 and now[1] == "" then
      vim.api.nvim_buf_set_lines(buffer, 0, -1, false, vim.split(text, "\n", { plain = true }))
    end
  end
end

function M.set_commands(them)
  commands = them or {}
end

--- The files whose path holds `typed`, as soon as they are known.
local function files(typed)
  local found = nil
  connection.request("outrigger/daemon/files", { typed = typed }, function(result)
    found = result.files
  end, function()
    found = {}
  end)
  vim.wait(PATIENCE, function()
    return found ~= nil
  end, 10)
  return found or {}
end

--- 'omnifunc': completes `@` with files of the project, and `/` at the beginning with commands.
function M.complete(find_start, base)
  if find_start == 1 then
    local before = vim.api.nvim_get_current_line():sub(1, vim.api.nvim_win_get_cursor(0)[2])
    local start = before:find("@%S*$") or before:find("^/%S*$")
    return start and start - 1 or -3
  end
  if vim.startswith(base, "@") then
    return vim.tbl_map(function(path)
      return { word = "@" .. path }
    end, vim.list_extend({ "selection" }, files(base:sub(2))))
  end
  local offered = vim.tbl_map(function(command)
    return { word = "/" .. command[1], menu = type(command[2]) == "string" and command[2] or nil }
  end, commands)
  return vim.tbl_filter(function(item)
    return vim.startswith(item.word, base)
  end, offered)
end

return M
