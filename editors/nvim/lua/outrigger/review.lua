--- One proposal on the screen: a tab with what is there on the left, and what is proposed on the
--- right, in Neovim's own diff. It knows nothing of verdicts; it says what the person did.

local documents = require("outrigger.documents")
local message = require("outrigger.message")
local text = require("outrigger.text")

local M = {}
M.__index = M

--- `:xit` and `:exit`, however short.
local WRITE_AND_QUIT = [[^\s*\(x\%[it]\|exi\%[t]\)!\?\s*$]]

--- The first line of a place that both have changed, and all the lines that mark it.
local CONFLICT = [[^<\{7,} in the file now$]]
local MARKERS = CONFLICT .. [[\|^=\{7,}$\|^>\{7,} proposed$]]

local function detect_filetype(buffer, path)
  local file = documents.at(path)
  local ok, found = pcall(vim.filetype.match, { filename = path, buf = buffer })
  if file then
    vim.bo[buffer].filetype = vim.bo[file].filetype
  elseif ok and found then
    vim.bo[buffer].filetype = found
  elseif not ok and vim.fn.exists("#filetypedetect#BufRead") == 1 then
    -- Before Neovim 0.8 only the autocommands know, and they work on the current buffer. The path is
    -- no part of a command: a line break in it would begin another one. And what an agent writes
    -- sets no options.
    vim.api.nvim_buf_call(buffer, function()
      local event = { group = "filetypedetect", pattern = path, modeline = false }
      pcall(vim.api.nvim_exec_autocmds, "BufRead", event)
    end)
  end
end

--- Undo must not go back beyond this.
local function fill(buffer, content)
  vim.bo[buffer].undolevels = -1
  text.fill(buffer, content)
  -- This value means that of all other buffers.
  vim.bo[buffer].undolevels = -123456
end

local function scratch(name, buftype, content)
  local buffer = vim.api.nvim_create_buf(false, true)
  -- Before there is a text: what an agent writes sets no options.
  vim.bo[buffer].modeline = false
  fill(buffer, content)
  vim.api.nvim_buf_set_name(buffer, name)
  vim.bo[buffer].buftype = buftype
  vim.bo[buffer].swapfile = false
  vim.bo[buffer].bufhidden = "wipe"
  return buffer
end

--- Fills a buffer anew, in place: undo does not go back to a text that is not valid any more, and
--- every window stays at the lines that it shows, as far as they are still there.
local function refill(buffer, content)
  local before = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
  local views = {}
  for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
    views[window] = vim.api.nvim_win_call(window, vim.fn.winsaveview)
  end
  local modifiable = vim.bo[buffer].modifiable
  vim.bo[buffer].modifiable = true
  fill(buffer, content)
  vim.bo[buffer].modifiable = modifiable
  local after = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
  for window, view in pairs(views) do
    local by = text.moved(before, after, view.lnum) - view.lnum
    view.lnum = view.lnum + by
    view.topline = view.topline > 1 and math.max(view.topline + by, 1) or 1
    vim.api.nvim_win_call(window, function()
      vim.fn.winrestview(view)
    end)
  end
end

--- Who proposes, for people.
function M.who(proposal)
  return text.one_line(proposal.who or proposal.agent)
end

--- Writes something above a window, or below it where Neovim has no winbar.
local function label(window, words)
  if vim.api.nvim_win_is_valid(window) then
    local where = vim.fn.exists("+winbar") == 1 and "winbar" or "statusline"
    vim.api.nvim_win_call(window, function()
      vim.opt_local[where] = words
    end)
  end
end

local function escape(words)
  return (text.one_line(words):gsub("%%", "%%%%"))
end

--- The name of the file, for people.
function M.name(proposal)
  return text.one_line(vim.fn.fnamemodify(proposal.path, ":t"))
end

--- Opens a proposal. `on` has `written` (the person wrote the right side), `closed` (they closed
--- it) and `aside` (they put another buffer in its place).
function M.open(proposal, on)
  local self = setmetatable({ proposal = proposal, on = on }, M)
  self.origin = { window = vim.api.nvim_get_current_win(), mode = vim.api.nvim_get_mode().mode }
  local content = proposal.original or ""
  local name = M.name(proposal)
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
  self.tick = vim.api.nvim_buf_get_changedtick(self.right.buffer)
  self:go_to_first_hunk()
  self:listen()
  self:relabel()
  self:say_what_is_hidden(content)
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
  on({ "TextChanged", "InsertLeave" }, self.right.buffer, function()
    if self.proposal.conflicts then
      self:relabel()
    end
  end)
  for keys, flags in pairs({ ["]x"] = "w", ["[x"] = "bw" }) do
    local jump = ("<Cmd>call search('%s', '%s')<CR>"):format(CONFLICT, flags)
    vim.api.nvim_buf_set_keymap(self.right.buffer, "n", keys, jump, { noremap = true, silent = true })
  end
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
function M:say_what_is_hidden(content)
  local proposed = self.proposal.proposed
  if content ~= proposed and vim.deep_equal((text.split(content)), (text.split(proposed))) then
    message.info("only line endings, byte order mark or final newline differ")
  end
end

--- How many places the person has to resolve.
function M:conflicts()
  local count = 0
  if self.proposal.conflicts then
    for _, line in ipairs(vim.api.nvim_buf_get_lines(self.right.buffer, 0, -1, false)) do
      count = count + (vim.fn.match(line, CONFLICT) == 0 and 1 or 0)
    end
  end
  return count
end

--- Who proposes what. Two sessions of an agent are told apart as long as there is room for it beside
--- `how` to decide; the left side has the name of the file too.
function M:proposes(name, how)
  local who, agent = M.who(self.proposal), self.proposal.agent
  local right = self.right.window
  local room = vim.api.nvim_win_is_valid(right) and vim.api.nvim_win_get_width(right) or 0
  for _, words in ipairs({ ("%s as %s proposes"):format(name, who), who .. " proposes" }) do
    if vim.fn.strdisplaywidth(words .. " | " .. how) <= room then
      return words
    end
  end
  return ("%s as %s proposes"):format(name, agent)
end

--- Says above the two sides what they are, and marks what is in conflict.
function M:relabel()
  local proposal = self.proposal
  local name = M.name(proposal)
  local left = name .. (proposal.dirty and " with your unsaved changes" or "")
  for _, why in ipairs({ proposal.stale or false, proposal.withheld or false }) do
    if why then
      left = ("%s: %s"):format(left, why)
    end
  end
  -- What is too long is cut off at the end on the left, and at the beginning on the right.
  label(self.left.window, escape(left) .. "%<")
  local conflicts = self:conflicts()
  local how = ":w accepts, :q rejects"
  if conflicts > 0 then
    how = ("%d in conflict (]x), %s"):format(conflicts, how)
  end
  label(self.right.window, escape(("%s | %s"):format(self:proposes(name, how), how)))
  self:mark_conflicts(conflicts > 0)
end

function M:mark_conflicts(wanted)
  if (self.marked ~= nil) == wanted or not vim.api.nvim_win_is_valid(self.right.window) then
    return
  end
  vim.api.nvim_win_call(self.right.window, function()
    if wanted then
      self.marked = vim.fn.matchadd("ErrorMsg", MARKERS)
    else
      vim.fn.matchdelete(self.marked)
      self.marked = nil
    end
  end)
end

--- Shows other texts of the proposal, in place. The left side may be gone: the person can close it.
function M:revise(proposal)
  local right = self.right.buffer
  if not vim.api.nvim_buf_is_valid(right) then
    -- Just closed, and `gone` is about to say so.
    return
  end
  local was_modified = vim.bo[right].modified
  refill(right, proposal.proposed)
  vim.bo[right].modified = was_modified
  self.tick = vim.api.nvim_buf_get_changedtick(right)
  self.proposal = proposal
  if vim.api.nvim_buf_is_valid(self.left.buffer) then
    refill(self.left.buffer, proposal.original or "")
  end
  for _, window in ipairs(vim.fn.win_findbuf(right)) do
    vim.api.nvim_win_call(window, function()
      vim.cmd("diffupdate")
    end)
  end
  self:relabel()
end

--- The texts are the same in this revision of the proposal; what the person has typed stays.
function M:keep(proposal)
  self.proposal = vim.tbl_extend("force", proposal, { proposed = self.proposal.proposed })
  self:relabel()
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

--- The decision was not taken: what the person wrote is unsaved again.
function M:undecided()
  if vim.api.nvim_buf_is_valid(self.right.buffer) then
    vim.bo[self.right.buffer].modified = true
  end
end

--- Puts it away, and the person back where they were.
function M:close()
  self.put_away = true
  -- Neovim closes no window if only the one with a notice would be left.
  message.hide()
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
  -- Neovim 0.7 still shows the line with the tabs, as if the diff were there.
  vim.o.showtabline = vim.o.showtabline
  if back and self.origin.mode:match("^[it]") and vim.api.nvim_get_current_win() == self.origin.window then
    vim.cmd("startinsert")
  end
end

return M
