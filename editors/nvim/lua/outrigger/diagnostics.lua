--- What Neovim's tools say about documents, reported as it is.

local connection = require("outrigger.connection")
local position = require("outrigger.position")

local M = {}

--- Tools publish in bursts; what counts is where they come to rest.
local REST = 100

local waiting = {}

local function as_lsp(buffer, it)
  local function place(line, column)
    return position.at(buffer, line, column or 0)
  end
  return {
    range = {
      start = place(it.lnum, it.col),
      ["end"] = place(it.end_lnum or it.lnum, it.end_col or it.col),
    },
    severity = it.severity,
    source = it.source,
    code = it.code,
    message = it.message,
  }
end

--- Reports what is known about a document now.
function M.report(buffer)
  if not vim.api.nvim_buf_is_valid(buffer) or not connection.knows(buffer) then
    return
  end
  local found = vim.tbl_map(function(it)
    return as_lsp(buffer, it)
  end, vim.diagnostic.get(buffer))
  connection.notify("outrigger/diagnosticsChanged", { uri = vim.uri_from_bufnr(buffer), diagnostics = found })
end

function M.listen(on)
  on("DiagnosticChanged", function(it)
    if waiting[it.buf] then
      return
    end
    waiting[it.buf] = true
    vim.defer_fn(function()
      waiting[it.buf] = nil
      M.report(it.buf)
    end, REST)
  end)
end

return M
