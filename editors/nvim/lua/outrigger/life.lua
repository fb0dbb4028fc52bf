--- The life of `outrigger lsp`: started, started again when it dies, stopped.

local attention = require("outrigger.attention")
local chat = require("outrigger.chat")
local config = require("outrigger.config")
local diagnostics = require("outrigger.diagnostics")
local documents = require("outrigger.documents")
local environment = require("outrigger.environment")
local event = require("outrigger.event")
local link = require("outrigger.link")
local log = require("outrigger.log")
local message = require("outrigger.message")
local presence = require("outrigger.presence")
local proposals = require("outrigger.proposals")
local status = require("outrigger.status")

local uv = vim.uv or vim.loop

local M = {}

--- The version of the editor protocol that this plugin speaks.
local PROTOCOL = 1
--- How long to wait before each new try after a crash, in milliseconds.
local DELAYS = { 250, 500, 1000, 2000, 4000 }
--- How long Neovim has for its own line about an end, in milliseconds. Two lines at once would make
--- it ask for Enter.
local AFTER_NEOVIM = 50
--- A companion that lived this long has not crashed at its start.
local STEADY = 60 * 1000

--- The workspace folders it was started for; nil while it is not wanted.
local folders = nil
--- The id of the client that runs, or is about to.
local id = nil
--- The port and the program's version, once it is ready.
local facts = nil
--- Crashes in a row.
local crashes = 0
local started = 0
--- Whether the person has stopped it, or it was given up.
local stopped = false
--- Whether its end is only the way to a new beginning.
local restarting = false

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
  message.error(why)
end

local function initialized(client, result)
  local info = result.serverInfo or {}
  local offered = (result.capabilities.experimental or {}).outrigger
  local speaks = type(offered) == "table" and offered.version or "none"
  if speaks ~= PROTOCOL then
    local name = ("%s %s"):format(info.name or config.get().cmd[1], info.version or "")
    give_up(("%s speaks protocol %s and not %d; update it or the plugin"):format(name, speaks, PROTOCOL))
    return M.stop()
  end
  facts = { version = info.version }
  link.use(client)
end

local function ready(_, params)
  facts.port = params.port
  environment.set(params.environment)
  chat.resume()
  event.fire("OutriggerReady", { port = params.port })
end

local function ended(code, signal)
  id, facts = nil, nil
  link.use(nil)
  status.set(nil)
  presence.forget()
  proposals.forget()
  chat.forget()
  event.fire("OutriggerEnded", { code = code, signal = signal })
  if not folders then
    return environment.unset()
  end
  if restarting then
    restarting = false
    return launch()
  end
  if uv.now() - started > STEADY then
    crashes = 0
    message.forget("crash")
  end
  crashes = crashes + 1
  log.add(("outrigger lsp ended with code %d and signal %d"):format(code, signal))
  if not DELAYS[crashes] then
    environment.unset()
    return give_up("it ends again and again; see :Outrigger log, then :Outrigger restart")
  end
  message.once("crash", vim.log.levels.WARN, "it ended unexpectedly and is started again")
  vim.defer_fn(launch, DELAYS[crashes])
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
  initial.daemon = options.daemon or nil
  return {
    name = "outrigger",
    cmd = options.cmd,
    capabilities = capabilities,
    init_options = initial,
    root_dir = folders[1],
    workspace_folders = vim.tbl_map(workspace_folder, folders),
    on_init = initialized,
    on_attach = function(_, buffer)
      diagnostics.tell(buffer)
      presence.look()
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
      ["outrigger/proposal/close"] = function(_, params)
        return proposals.close(params.id)
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
  attention.listen()
  presence.listen(on)
  diagnostics.listen(on)
end

--- Starts it for these folders, unless it runs.
function M.start(wanted)
  if id or folders then
    return
  end
  local program = config.get().cmd[1]
  if vim.fn.executable(program) == 0 then
    message.once(
      "missing",
      vim.log.levels.WARN,
      ("there is no program %q; install it with: cargo install outrigger"):format(program)
    )
    return
  end
  folders, crashes, stopped = wanted, 0, false
  listen()
  launch()
end

--- How long it may take to leave, in milliseconds.
local FAREWELL = 2000

--- Asks the process to leave, and ends it if it does not.
local function dismiss()
  local client = id and vim.lsp.get_client_by_id(id)
  if not client then
    return
  end
  local rpc, leaving = client.rpc, id
  rpc.request("shutdown", nil, function()
    rpc.notify("exit")
  end)
  vim.defer_fn(function()
    if id ~= leaving then
      return
    elseif rpc.terminate then
      rpc.terminate()
    else
      rpc.handle:kill("sigterm")
    end
  end, FAREWELL)
end

function M.stop()
  folders, stopped = nil, true
  dismiss()
end

function M.restart()
  crashes = 0
  message.forget("crash")
  if id then
    restarting = true
    dismiss()
  elseif not folders then
    require("outrigger").start()
  end
end

return M
