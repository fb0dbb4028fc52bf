local companion = require("outrigger.companion")
local config = require("outrigger.config")
local status = require("outrigger.status")

--- Runs `body` with a program that only listens. It gets how it runs (the `settings` of the client, and
--- how many `starts`), what was sent to it so far, a function that ends it, and the client. `options` are
--- the person's.
local function with_program(body, options)
  local running, sent = { settings = nil, starts = 0 }, {}
  local rpc = { request = function() end, terminate = function() end }
  function rpc.notify(method, params)
    table.insert(sent, { method, params })
  end
  local client = { id = 1, rpc = rpc, offset_encoding = "utf-8" }
  local stubs = {
    buf_attach_client = function() end,
    buf_is_attached = function()
      return true
    end,
    get_client_by_id = function()
      return client
    end,
  }
  function stubs.start(wanted)
    running.settings, running.starts = wanted, running.starts + 1
    return client.id
  end
  stubs.start_client = stubs.start
  local real, real_start = {}, vim.lsp.rpc.start
  for name, stub in pairs(stubs) do
    real[name], vim.lsp[name] = vim.lsp[name], stub
  end
  vim.lsp.rpc.start = function(_, dispatchers)
    dispatchers.on_exit(0, 0)
  end
  --- Ends it as Neovim would, and waits until the plugin knows.
  local function finish()
    local known = false
    vim.api.nvim_create_autocmd("User", {
      pattern = "OutriggerEnded",
      once = true,
      callback = function()
        known = true
      end,
    })
    if type(running.settings.cmd) == "function" then
      running.settings.cmd({ on_exit = function() end })
    else
      running.settings.on_exit(0, 0)
    end
    same(vim.wait(5000, function()
      return known
    end), true, "the end was not noticed")
  end
  config.set(vim.tbl_extend("error", { cmd = { "true" } }, options or {}))
  companion.start({ "/w" })
  local initialized = { capabilities = { experimental = { outrigger = { version = 1 } } } }
  running.settings.on_init(client, initialized)
  local ok, why = xpcall(function()
    body(running, sent, finish, client)
  end, debug.traceback)
  if companion.is_wanted() then
    companion.stop()
    finish()
  end
  for name, was in pairs(real) do
    vim.lsp[name] = was
  end
  vim.lsp.rpc.start = real_start
  config.set({})
  vim.api.nvim_del_augroup_by_name("outrigger")
  vim.on_key(nil, vim.api.nvim_create_namespace("outrigger"))
  assert(ok, why)
end

it("a companion that is stopped knows whether it is started again", function()
  with_program(function(running, sent, finish)
    companion.restart()
    finish()
    same(running.starts, 2)
    companion.stop()
    same(sent, { { "outrigger/stop", { restart = true } }, { "outrigger/stop" } })
    same(status.state(), "stopped")
    finish()
    same(running.starts, 2)
  end)
end)

it("what is not saved when the companion comes is said to be so", function()
  with_program(function(running, sent, _, client)
    for _, name in ipairs({ "saved.txt", "unsaved.txt" }) do
      vim.cmd("silent edit /w/" .. name)
      if name == "unsaved.txt" then
        vim.fn.setline(1, "typed")
      end
      running.settings.on_attach(client, vim.api.nvim_get_current_buf())
    end
    local changes = vim.tbl_filter(function(it)
      return it[1] == "textDocument/didChange"
    end, sent)
    local version = vim.api.nvim_buf_get_changedtick(0)
    same(vim.tbl_map(function(it)
      return it[2]
    end, changes), {
      { textDocument = { uri = "file:///w/unsaved.txt", version = version }, contentChanges = {} },
    })
  end)
end)

it("the companion is told about conversations what the person has said, and nothing else", function()
  for _, case in ipairs({
    { nil, nil },
    { true, true },
    { false, false },
    { { url = "u", token_file = "/t" }, { url = "u", tokenFile = "/t" } },
  }) do
    with_program(function(running)
      same(running.settings.init_options.daemon, case[2])
    end, { daemon = case[1] })
  end
end)
