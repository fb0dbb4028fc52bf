--- The pipe to the companion that runs now: notifications and requests. Without one, nothing is sent.

local message = require("outrigger.message")

local M = {}

local client = nil

--- From now on messages go through this client of Neovim's language server framework; nil ends it.
function M.use(it)
  client = it
end

function M.is_up()
  return client ~= nil
end

--- How positions are counted: "utf-8", "utf-16" or "utf-32".
function M.encoding()
  return client and client.offset_encoding or "utf-16"
end

--- Whether the companion knows the text of this buffer.
function M.knows(buffer)
  return client ~= nil and vim.lsp.buf_is_attached(buffer, client.id)
end

-- The calls of `client` itself have changed their form between versions of Neovim. Those of
-- `client.rpc` have not.

function M.notify(method, params)
  if client then
    client.rpc.notify(method, params)
  end
end

--- Asks something. `done` gets the result, and `failed` why there is none; without it the person is
--- told.
function M.request(method, params, done, failed)
  local fail = failed or message.warn
  if not client then
    return fail("the companion is not running; see :checkhealth outrigger")
  end
  local sent = client.rpc.request(method, params or vim.empty_dict(), function(err, result)
    vim.schedule(function()
      if err then
        fail(err.message or tostring(err))
      elseif done then
        done(result)
      end
    end)
  end)
  if not sent then
    fail("the companion has just ended; try again")
  end
end

return M
