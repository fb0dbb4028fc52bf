--- The process `outrigger lsp`: starts it, starts it again when it ends by itself, stops it, and hands
--- what it says to the module that it concerns.

local chat = require("outrigger.chat")
local config = require("outrigger.config")
local connection = require("outrigger.connection")
local diagnostics = require("outrigger.diagnostics")
local documents = require("outrigger.documents")
local environment = require("outrigger.environment")
local event = require("outrigger.event")
local interrupt = require("outrigger.interrupt")
local log = require("outrigger.log")
local message = require("outrigger.message")
local proposals = require("outrigger.proposals")
local restart = require("outrigger.restart")
local selection = require("outrigger.selection")
local status = require("outrigger.status")

local uv = vim.uv or vim.loop

local M = {}

--- The version of the editor protocol that this plugin speaks.
local PROTOCOL = 1
--- How long Neovim has for its own line about an end, in milliseconds. Two lines at once would make
--- it ask for Enter.
local AFTER_NEOVIM = 50

--- The workspace folders it was started for; nil while it is not wanted.
local folders = nil
--- The id of the client that runs, or is about to.
local id = nil
--- The port and the program's version, once it is ready.
local facts = nil
--- Unexpected ends in a row, and when the last start was.
local failures, started = 0, 0
--- Whether the person has ordered a restart, so that the end is expected.
local ordered = false
--- Whether the person has stopped it, or it was given up.
local stopped = false
--- Whether agents were paused when it ended. The next companion does not know of it.
local paused = false

local launch

--- Whether it runs or is about to.
function M.is_wanted()
  return folders ~= nil
end

--- Whether it must not start by itself any more.
function M.was_stopped()
  return stopped
end

--- What health checks and the status say: `folders`, `port` and `version`.
function M.facts()
  return { folders = folders, port = facts and facts.port, version = facts and facts.version }
end

local function attach(buffer)
  if id and documents.is_document(buffer) and not vim.lsp.buf_is_attached(buffer, id) then
    vim.lsp.buf_attach_client(buffer, id)
  end
end

local function attach_all()
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    attach(buffer)
  end
end

local function give_up(why)
  folders, stopped = nil, true
  environment.unset()
  status.set_state("failed")
  message.error(why)
end

--- How long it may take to exit, in milliseconds.
local EXITING = 2000

--- Asks the process to exit, and ends it if it does not. The companion behind it ends too, unless
--- another editor is in it: the person wants it to, unlike when Neovim closes. One that ends for good
--- rejects what Gemini CLI has open, which could not be answered later; one that is started `again` at
--- once must not.
local function shut_down(again)
  local client = id and vim.lsp.get_client_by_id(id)
  if not client then
    return
  end
  local rpc, exiting = client.rpc, id
  rpc.notify("outrigger/stop", again and { restart = true } or nil)
  rpc.request("shutdown", nil, function()
    rpc.notify("exit")
  end)
  vim.defer_fn(function()
    if id ~= exiting then
      return
    elseif rpc.terminate then
      rpc.terminate()
    else
      rpc.handle:kill("sigterm")
    end
  end, EXITING)
end

local function initialized(client, result)
  local info = result.serverInfo or {}
  local offered = (result.capabilities.experimental or {}).outrigger
  local speaks = type(offered) == "table" and offered.version or "none"
  if speaks ~= PROTOCOL then
    local name = ("%s %s"):format(info.name or config.get().cmd[1], info.version or "")
    give_up(("%s speaks protocol %s and not %d; update it or the plugin"):format(name, speaks, PROTOCOL))
    return shut_down()
  end
  facts = { version = info.version }
  connection.use(client)
  if paused then
    -- Before the first document is opened.
    connection.notify("outrigger/pause", { paused = true })
  end
end

local function ready(_, params)
  facts.port = params.port
  status.set_state("running")
  environment.set(params.environment)
  chat.resume()
  event.fire("OutriggerReady", { port = params.port })
end

--- The process is gone, whether it was told to go or not.
local function ended(code, signal)
  id, facts = nil, nil
  if status.get() then
    paused = status.get().paused
  end
  connection.use(nil)
  status.set(nil)
  selection.forget()
  proposals.forget()
  chat.forget()
  event.fire("OutriggerEnded", { code = code, signal = signal })
  if not folders then
    return environment.unset()
  end
  if ordered then
    ordered = false
    return launch()
  end
  log.add(("outrigger lsp ended with code %d and signal %d"):format(code, signal))
  local wait
  failures, wait = restart.after_end(failures, uv.now() - started)
  if not wait then
    return give_up("the companion ends again and again; see :Outrigger log, then :Outrigger restart")
  end
  status.set_state("restarting")
  if failures == 1 then
    message.warn("the companion ended unexpectedly and is started again; see :Outrigger log")
  end
  vim.defer_fn(launch, wait)
end

local function workspace_folder(folder)
  return { uri = vim.uri_from_fname(folder), name = vim.fn.fnamemodify(folder, ":t") }
end

local function settings()
  local options = config.get()
  local capabilities = vim.lsp.protocol.make_client_capabilities()
  capabilities.experimental = { outrigger = true }
  local initial = vim.empty_dict()
  initial.agents = options.agents
  initial.ignore = #options.ignore > 0 and options.ignore or nil
  initial.daemon = options.daemon
  return {
    name = "outrigger",
    cmd = options.cmd,
    capabilities = capabilities,
    init_options = initial,
    root_dir = folders[1],
    workspace_folders = vim.tbl_map(workspace_folder, folders),
    on_init = initialized,
    on_attach = function(_, buffer)
      documents.opened(buffer)
      diagnostics.report(buffer)
      selection.report()
    end,
    on_exit = function(code, signal)
      vim.defer_fn(function()
        ended(code, signal)
      end, AFTER_NEOVIM)
    end,
    handlers = {
      ["outrigger/ready"] = ready,
      ["outrigger/status"] = function(_, params)
        status.set(params)
      end,
      ["outrigger/proposal/open"] = function(_, params)
        return proposals.open(params)
      end,
      ["outrigger/proposal/text"] = function(_, params)
        return proposals.text(params)
      end,
      ["outrigger/proposal/close"] = function(_, params)
        return proposals.close(params)
      end,
      ["outrigger/daemon/all"] = function(_, params)
        chat.all(params)
      end,
      ["outrigger/daemon/change"] = function(_, params)
        chat.change(params)
      end,
      ["window/logMessage"] = function(_, params)
        log.add(params.message)
      end,
      ["window/showMessage"] = function(_, params)
        message.warn(params.message)
      end,
    },
  }
end

--- Starts the process without Neovim's own words about its end, which take several lines.
local function quietly(wanted)
  local command, on_exit = wanted.cmd, wanted.on_exit
  wanted.on_exit = nil
  return function(dispatchers)
    local end_of_client = dispatchers.on_exit
    dispatchers.on_exit = function(code, signal)
      end_of_client(0, 0)
      on_exit(code, signal)
    end
    return vim.lsp.rpc.start(command, dispatchers)
  end
end

function launch()
  if id or not folders then
    return
  end
  started = uv.now()
  status.set_state(failures > 0 and "restarting" or "starting")
  local wanted = settings()
  -- A client that is attached to no buffer yet is what `attach = false` asks for; versions that do
  -- not know `vim.lsp.config` do not know that either.
  if vim.lsp.config then
    wanted.cmd = quietly(wanted)
    id = vim.lsp.start(wanted, { attach = false })
  else
    id = vim.lsp.start_client(wanted)
  end
  if id then
    attach_all()
  else
    give_up(("cannot run %s; see :checkhealth outrigger"):format(config.get().cmd[1]))
  end
end

local function listen()
  local group = vim.api.nvim_create_augroup("outrigger", {})
  local function on(events, callback)
    vim.api.nvim_create_autocmd(events, { group = group, callback = callback })
  end
  on({ "BufReadPost", "BufNewFile", "BufEnter" }, function(it)
    attach(it.buf)
  end)
  on("VimLeavePre", function()
    folders = nil
  end)
  interrupt.listen()
  documents.listen(on, function()
    selection.forget()
    selection.report()
  end)
  selection.listen(on)
  diagnostics.listen(on)
end

--- Starts it for these folders, unless it runs.
function M.start(wanted)
  if id or folders then
    return
  end
  local program = config.get().cmd[1]
  if vim.fn.executable(program) == 0 then
    status.set_state("failed")
    message.once(
      "missing",
      vim.log.levels.WARN,
      ("there is no program %q; see :help outrigger-installation"):format(program)
    )
    return
  end
  folders, failures, stopped, paused = wanted, 0, false, false
  listen()
  launch()
end

--- Stops it. It does not start by itself again.
function M.stop()
  folders, stopped = nil, true
  status.set_state("stopped")
  if id then
    shut_down()
  else
    environment.unset()
  end
end

--- Starts it again because the person says so. The count of failures begins anew.
function M.restart()
  failures = 0
  if id then
    ordered = true
    shut_down(true)
  elseif folders then
    launch()
  else
    require("outrigger").start()
  end
end

return M
