--- What the companion says happens, for `:Outrigger log`. No text of a file is ever part of it.

local text_of = require("outrigger.text")

local M = {}

local MOST = 1000

local lines = {}

--- Adds a line, whatever is in it.
function M.add(text)
  table.insert(lines, os.date("%H:%M:%S ") .. text_of.one_line(text))
  while #lines > MOST do
    table.remove(lines, 1)
  end
end

--- Shows it in a window of its own.
function M.show()
  local buffer = vim.api.nvim_create_buf(false, true)
  local where = "What it wrote to stderr is in " .. require("vim.lsp.log").get_filename()
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, vim.list_extend({ where, "" }, lines))
  vim.bo[buffer].bufhidden = "wipe"
  vim.bo[buffer].modifiable = false
  vim.cmd("botright sbuffer " .. buffer)
  vim.cmd("normal! G")
end

return M
