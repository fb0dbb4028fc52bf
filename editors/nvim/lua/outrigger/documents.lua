--- Which buffers are documents: files that the person edits and agents may be told about.

local config = require("outrigger.config")
local connection = require("outrigger.connection")

local M = {}

--- The path of the file in a buffer; nil for buffers that are no file of this machine, such as
--- terminals, listings, and documents that another plugin fetches from elsewhere.
function M.path(buffer)
  if not vim.api.nvim_buf_is_valid(buffer) or vim.bo[buffer].buftype ~= "" then
    return nil
  end
  local name = vim.api.nvim_buf_get_name(buffer)
  if name == "" or name:match("^%a[%w+.-]+://") or vim.fn.isdirectory(name) == 1 then
    return nil
  end
  return name
end

local function is_binary(buffer)
  if vim.bo[buffer].binary then
    return true
  end
  for _, line in ipairs(vim.api.nvim_buf_get_lines(buffer, 0, 100, false)) do
    if line:find("%z") then
      return true
    end
  end
  return false
end

--- Whether the text of a buffer is kept with the companion.
function M.is_document(buffer)
  if not M.path(buffer) or not vim.api.nvim_buf_is_loaded(buffer) or not vim.bo[buffer].buflisted then
    return false
  end
  local bytes = vim.api.nvim_buf_get_offset(buffer, vim.api.nvim_buf_line_count(buffer))
  return bytes <= config.get().max_bytes and not is_binary(buffer)
end

--- The loaded buffer with the file at `path`.
function M.at(path)
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    local is_it = vim.api.nvim_buf_is_loaded(buffer) and M.path(buffer)
    if is_it and (is_it == path or vim.fn.resolve(is_it) == vim.fn.resolve(path)) then
      return buffer
    end
  end
  return nil
end

--- A document was opened with the text that it has now, which counts as saved. If it is not, as when
--- the companion was started again, a change of nothing says so.
function M.opened(buffer)
  if vim.bo[buffer].modified then
    connection.notify("textDocument/didChange", {
      textDocument = { uri = vim.uri_from_bufnr(buffer), version = vim.api.nvim_buf_get_changedtick(buffer) },
      contentChanges = {},
    })
  end
end

--- Says that a document has another name. `renamed` is called then.
function M.listen(on, renamed)
  local named = {}
  on("BufFilePre", function(it)
    named[it.buf] = connection.knows(it.buf) and vim.uri_from_bufnr(it.buf) or nil
  end)
  on("BufFilePost", function(it)
    local before = named[it.buf]
    named[it.buf] = nil
    if before then
      local file = { oldUri = before, newUri = vim.uri_from_bufnr(it.buf) }
      connection.notify("workspace/didRenameFiles", { files = { file } })
      renamed()
    end
  end)
end

return M
