-- Loaded at startup: the command, and the reasons to start by itself. Everything else waits in
-- lua/outrigger until it is needed.

if vim.g.loaded_outrigger or not vim.api.nvim_create_autocmd then
  return
end
vim.g.loaded_outrigger = true

vim.api.nvim_create_user_command("Outrigger", function(arguments)
  require("outrigger.command").run(arguments.fargs)
end, {
  nargs = "+",
  desc = "Control the companion of terminal agents",
  complete = function(_, line)
    return require("outrigger.command").complete(line)
  end,
})

local function consider(buffer)
  -- Later, so that a `setup()` that runs right after this file still counts.
  vim.schedule(function()
    require("outrigger").consider(buffer)
  end)
end

local group = vim.api.nvim_create_augroup("outrigger_start", {})
vim.api.nvim_create_autocmd({ "VimEnter", "DirChanged" }, {
  group = group,
  callback = function()
    consider()
  end,
})
vim.api.nvim_create_autocmd({ "BufReadPost", "BufNewFile" }, {
  group = group,
  callback = function(event)
    consider(event.buf)
  end,
})
if vim.v.vim_did_enter == 1 then
  consider()
end
