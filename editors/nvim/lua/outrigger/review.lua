--- One proposal on the screen: a tab with what is there on the left, and what is proposed on the
--- right, in Neovim's own diff. It knows nothing of verdicts; it says what the person did.

local documents = require("outrigger.documents")
local message = require("outrigger.message")
local text = require("outrigger.text")
local watch = require("outrigger.watch")

local M = {}
M.__index = M

--- `:xit` and `:exit`, however short.
local WRITE_AND_QUIT = [[^\s*\(x\%[it]\|exi\%[t]\)!\?\s*$]]

local function detect_filetype(buffer, path)
  local file = documents.at(path)
  local ok, found = pcall(vim.filetype.match, { filename = path, buf = buffer })
  if file then
    vim.bo[buffer].filetype = vim.bo[file].filetype
  elseif ok and found then
    vim.bo[buffer].filetype = found
  elseif not ok then
    -- Before Neovim 0.8 only the autocommands know, and they work on the current buffer.
    vim.api.nvim_buf_call(buffer, function()
      vim.cmd("silent! doautocmd filetypedetect BufRead " .. vim.fn.fnameescape(path))
    end)
  end
end

local function scratch(name, buftype, content)
  local buffer = vim.api.nvim_create_buf(false, true)
  -- Undo must not go back to an empty buffer. The second value means that of all other buffers.
  vim.bo[buffer].undolevels = -1
  text.fill(buffer, content)
  vim.bo[buffer].undolevels = -123456
  vim.api.nvim_buf_set_name(buffer, name)
  vim.bo[buffer].buftype = buftype
  vim.bo[buffer].swapfile = false
  vim.bo[buffer].bufhidden = "wipe"
  return buffer
end

--- What the person has now: the buffer with its unsaved changes, else what the agent has read.
local function original(proposal)
  local file = documents.at(proposal.path)
  if file and vim.bo[file].modified then
    return text.join(file), true
  end
  return proposal.original or "", false
end

local function label(window, words)
  vim.api.nvim_win_call(window, function()
    -- Neovim has it since 0.8.
    pcall(function()
      vim.opt_local.winbar = (words:gsub("%%", "%%%%"))
    end)
  end)
end

--- Opens a proposal. `on` has `written` (the person wrote the right side), `closed` (they closed
--- it) and `aside` (they put another buffer in its place).
function M.open(proposal, on)
  local self = setmetatable({ proposal = proposal, on = on }, M)
  self.origin = { window = vim.api.nvim_get_current_win(), mode = vim.api.nvim_get_mode().mode }
  local content, unsaved = original(proposal)
  local name = vim.fn.fnamemodify(proposal.path, ":t")
  local here = "outrigger://" .. proposal.id
  self.left = { buffer = scratch(here .. "/original/" .. name, "nofile", content) }
  self.right = { buffer = scratch(here .. "/proposed/" .. name, "acwrite", proposal.proposed) }
  vim.bo[self.left.buffer].modifiable = false
  vim.bo[self.right.buffer].modifiable = proposal.editable ~= false
  vim.bo[self.right.buffer].modified = false
  vim.cmd("stopinsert")
  vim.cmd("tab sbuffer " .. self.left.buffer)
  self.left.window = vim.api.nvim_get_current_win()
  vim.cmd("rightbelow vertical sbuffer " .. self.right.buffer)
  self.right.window = vim.api.nvim_get_current_win()
  self.tab = vim.api.nvim_get_current_tabpage()
  for _, side in ipairs({ self.left, self.right }) do
    detect_filetype(side.buffer, proposal.path)
    vim.api.nvim_win_call(side.window, function()
      vim.cmd("diffthis")
    end)
  end
  label(self.left.window, unsaved and (name .. " with your unsaved changes") or name)
  label(self.right.window, ("%s as %s proposes | :w accepts, :q rejects"):format(name, proposal.agent))
  self.tick = vim.api.nvim_buf_get_changedtick(self.right.buffer)
  self:go_to_first_hunk()
  self:listen()
  self:say_what_is_hidden(name, content, unsaved)
  self.unwatch = watch.file(proposal.path, function()
    self:file_changed(name, unsaved)
  end)
  return self
end

function M:go_to_first_hunk()
  local hunk = (self.proposal.draftHunks or self.proposal.hunks)[1]
  local lines = vim.api.nvim_buf_line_count(self.right.buffer)
  local line = math.min((hunk and hunk.proposedStart or 0) + 1, lines)
  vim.api.nvim_win_set_cursor(self.right.window, { line, 0 })
end

function M:listen()
  local group = vim.api.nvim_create_augroup("outrigger_review_" .. self.proposal.id, {})
  local function on(events, buffer, callback)
    vim.api.nvim_create_autocmd(events, { group = group, buffer = buffer, callback = callback })
  end
  on("BufWriteCmd", self.right.buffer, function(it)
    self:written(it)
  end)
  on("BufWipeout", self.right.buffer, function()
    vim.schedule(function()
      self:gone()
    end)
  end)
  on("QuitPre", self.left.buffer, function()
    vim.schedule(function()
      self:quit()
    end)
  end)
  -- `:x` and `ZZ` write only what was changed, but the person means yes.
  on("CmdlineLeave", self.right.buffer, function()
    local is_command = vim.fn.getcmdtype() == ":" and not vim.v.event.abort
    if is_command and vim.fn.match(vim.fn.getcmdline(), WRITE_AND_QUIT) == 0 then
      vim.bo[self.right.buffer].modified = true
    end
  end)
  vim.api.nvim_buf_set_keymap(self.right.buffer, "n", "ZZ", "<Cmd>wq<CR>", { noremap = true })
end

--- Something wrote the right side: the person, or a `:wa` that they gave elsewhere.
function M:written(it)
  local own_name = it.file == vim.api.nvim_buf_get_name(self.right.buffer)
  if not self:is_in_front() or not own_name then
    message.warn("not accepted: go to the proposal, and write it under its own name")
    return
  end
  vim.bo[self.right.buffer].modified = false
  self.on.written(self:text())
end

--- The right side is not on the screen any more.
function M:gone()
  if self.put_away then
    return
  elseif vim.api.nvim_win_is_valid(self.right.window) then
    self.on.aside()
  else
    self.on.closed()
  end
end

--- The person wanted to quit on the left side; they may have been stopped by unsaved changes.
function M:quit()
  if not self.put_away and not vim.api.nvim_win_is_valid(self.left.window) then
    self.on.closed()
  end
end

--- A diff is about lines. What else differs is said.
function M:say_what_is_hidden(name, content, unsaved)
  if unsaved then
    message.warn(name .. " has unsaved changes; the left side is your buffer")
    return
  end
  local proposed = self.proposal.proposed
  if content ~= proposed and vim.deep_equal((text.split(content)), (text.split(proposed))) then
    message.info("only line endings, byte order mark or final newline differ")
  end
end

--- The file has changed on disk since the agent read it: the left side shows what would be lost.
function M:file_changed(name, unsaved)
  if self.over or unsaved or self.put_away then
    return
  end
  local file = io.open(self.proposal.path, "rb")
  local content = file and file:read("*a")
  if file then
    file:close()
  end
  if not content or content == text.join(self.left.buffer) then
    return
  end
  vim.bo[self.left.buffer].modifiable = true
  text.fill(self.left.buffer, content)
  vim.bo[self.left.buffer].modifiable = false
  vim.cmd("diffupdate")
  message.warn(name .. " has changed on disk since the agent read it")
end

--- The text of the right side, if the person has changed it.
function M:text()
  local buffer = self.right.buffer
  if not vim.api.nvim_buf_is_valid(buffer) or vim.api.nvim_buf_get_changedtick(buffer) == self.tick then
    return nil
  end
  local content = text.join(buffer)
  return content ~= self.proposal.proposed and content or nil
end

--- Makes the right side what the person had made of it before.
function M:set_text(content)
  text.fill(self.right.buffer, content)
  vim.bo[self.right.buffer].modified = true
  vim.cmd("diffupdate")
end

--- Whether the person is looking at it.
function M:is_in_front()
  return vim.api.nvim_get_current_tabpage() == self.tab
end

--- Goes to it.
function M:focus()
  if vim.api.nvim_win_is_valid(self.right.window) then
    vim.api.nvim_set_current_win(self.right.window)
  end
end

--- The person has decided: what happens to the file now is no surprise.
function M:decided()
  self.over = true
end

--- The decision was not taken: what the person wrote is unsaved again.
function M:undecided()
  self.over = false
  if vim.api.nvim_buf_is_valid(self.right.buffer) then
    vim.bo[self.right.buffer].modified = true
  end
end

--- Puts it away, and the person back where they were.
function M:close()
  self.put_away = true
  self.unwatch()
  pcall(vim.api.nvim_del_augroup_by_name, "outrigger_review_" .. self.proposal.id)
  local back = self:is_in_front() or not vim.api.nvim_tabpage_is_valid(self.tab)
  if back then
    vim.cmd("stopinsert")
  end
  if #vim.api.nvim_list_tabpages() == 1 and self:is_in_front() then
    vim.cmd("tabnew")
  elseif back and vim.api.nvim_win_is_valid(self.origin.window) then
    vim.api.nvim_set_current_win(self.origin.window)
  end
  for _, side in ipairs({ self.right, self.left }) do
    if vim.api.nvim_win_is_valid(side.window) then
      pcall(vim.api.nvim_win_close, side.window, true)
    end
    if vim.api.nvim_buf_is_valid(side.buffer) then
      vim.api.nvim_buf_delete(side.buffer, { force = true })
    end
  end
  if back and self.origin.mode:match("^[it]") and vim.api.nvim_get_current_win() == self.origin.window then
    vim.cmd("startinsert")
  end
end

return M
