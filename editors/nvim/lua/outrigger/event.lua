--- `User` autocommands, for those who want to react. See |outrigger-events|.

local M = {}

--- Fires `User <name>`. Callbacks get `data` where Neovim can hand it over (0.8 and later).
function M.fire(name, data)
  local options = { pattern = name, modeline = false }
  if not pcall(vim.api.nvim_exec_autocmds, "User", vim.tbl_extend("error", options, { data = data })) then
    vim.api.nvim_exec_autocmds("User", options)
  end
end

return M
