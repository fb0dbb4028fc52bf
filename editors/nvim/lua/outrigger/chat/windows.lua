--- Where a conversation is on the screen: on the right, with what the person writes below it.

local entries = require("outrigger.chat.entries")

local M = {}

--- How many lines there are to write in at first.
local HEIGHT = 5

--- Neovim has a line above each window since 0.8; before, the one below has to do.
local BAR = vim.fn.exists("+winbar") == 1 and "winbar" or "statusline"

local function said(what)
  return ("%%{v:lua.require'outrigger.chat'.%s()}"):format(what)
end

local TRANSCRIPT = {
  [BAR] = (" %s %%<%s %%=%s "):format(said("state"), said("place"), said("doing")),
  foldmethod = "expr",
  foldexpr = entries.FOLDEXPR,
  foldtext = [[getline(v:foldstart).' … '.(v:foldend-v:foldstart)]],
  foldlevel = 0,
  foldenable = true,
  wrap = true,
  linebreak = true,
}
local PROMPT = {
  [BAR] = " <CR> says it, CTRL-S while you type; @file and @selection go with it ",
  wrap = true,
  linebreak = true,
  winfixheight = true,
}

--- Sets the options of the current window whenever it shows `buffer`.
local function set_options(buffer, options)
  vim.api.nvim_create_autocmd("BufWinEnter", {
    buffer = buffer,
    callback = function()
      for name, value in pairs(options) do
        vim.opt_local[name] = value
      end
    end,
  })
end

function M.prepare_transcript(buffer)
  set_options(buffer, TRANSCRIPT)
end

--- Neovim folds nothing while the person types, so that is made up for.
local function fold()
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if vim.bo[vim.api.nvim_win_get_buf(window)].filetype == "outrigger-chat" then
      vim.api.nvim_win_call(window, function()
        vim.opt_local.foldexpr = entries.FOLDEXPR
      end)
    end
  end
end

function M.prepare_prompt(buffer)
  set_options(buffer, PROMPT)
  vim.api.nvim_create_autocmd("InsertLeave", {
    buffer = buffer,
    callback = function()
      vim.schedule(fold)
    end,
  })
end

local function show(buffer, split)
  if vim.fn.bufwinid(buffer) == -1 then
    vim.cmd(split)
    vim.api.nvim_set_current_buf(buffer)
  end
end

--- Shows both buffers in this tab. The person stays where they are.
function M.show(transcript, prompt)
  local window = vim.api.nvim_get_current_win()
  if vim.fn.bufwinid(transcript) == -1 then
    show(transcript, "botright vsplit")
    vim.cmd("normal! G")
  end
  vim.api.nvim_set_current_win(vim.fn.bufwinid(transcript))
  show(prompt, ("rightbelow %dsplit"):format(HEIGHT))
  vim.api.nvim_set_current_win(window)
end

--- Goes to what the person writes.
function M.enter(prompt)
  vim.api.nvim_set_current_win(vim.fn.bufwinid(prompt))
  vim.cmd("startinsert!")
end

return M
