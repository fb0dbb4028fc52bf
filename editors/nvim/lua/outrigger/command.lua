--- `:Outrigger`, for hands; `require("outrigger")` has the same for code.

local chat = require("outrigger.chat")
local life = require("outrigger.life")
local link = require("outrigger.link")
local log = require("outrigger.log")
local message = require("outrigger.message")
local proposals = require("outrigger.proposals")
local status = require("outrigger.status")

local M = {}

local function outrigger()
  return require("outrigger")
end

local function describe(agent)
  local presence = agent.connected and "connected" or "away"
  return ("%s %s (%s)"):format(agent.name, agent.version, presence)
end

local function show_status()
  local facts, now = life.facts(), status.get()
  if not now then
    return message.info(facts.folders and "it is starting" or "it is not running; see :Outrigger start")
  end
  local agents = vim.tbl_map(describe, now.agents)
  local lines = {
    ("outrigger %s on port %s for %s"):format(facts.version, facts.port, table.concat(facts.folders, ", ")),
    "agents: " .. (#agents > 0 and table.concat(agents, ", ") or "none"),
    ("proposals: %d pending"):format(now.pending),
    ("open files that agents are not told about: %d"):format(now.heldBack),
    now.paused and "paused: agents see nothing open" or "agents see what is open",
  }
  vim.api.nvim_echo({ { table.concat(lines, "\n") } }, true, {})
end

local function open_page()
  link.request("outrigger/page", nil, function(page)
    if vim.ui.open then
      vim.ui.open(page.url)
      return
    end
    local opener = vim.fn.has("mac") == 1 and "open" or "xdg-open"
    if vim.fn.executable(opener) == 1 then
      vim.fn.jobstart({ opener, page.url }, { detach = true })
    else
      message.info("the page is at " .. page.url)
    end
  end)
end

local COMMANDS = {
  status = show_status,
  open = open_page,
  log = log.show,
  start = function()
    outrigger().start()
  end,
  stop = function()
    outrigger().stop()
  end,
  restart = function()
    outrigger().restart()
  end,
  pause = function()
    outrigger().pause(true)
  end,
  resume = function()
    outrigger().pause(false)
  end,
  chat = chat.open,
  say = chat.say,
  answer = chat.answer,
  model = chat.model,
  mode = chat.mode,
  cancel = chat.stop,
  sessions = chat.sessions,
  connect = chat.connect,
  show = function(id)
    outrigger().show(id)
  end,
  accept = function(id)
    outrigger().accept(id)
  end,
  reject = function(id)
    outrigger().reject(id)
  end,
}

local TAKES_ID = { show = true, accept = true, reject = true }
local WHICH = { last = true, new = true, start = true }

function M.run(arguments)
  local name, argument = arguments[1], arguments[2]
  local command = COMMANDS[name]
  if name == "say" then
    return command(table.concat(arguments, " ", 2))
  elseif name == "connect" and #arguments == 2 and WHICH[argument] then
    return command(argument)
  end
  local id = tonumber(argument)
  local fits = command and (argument == nil or (TAKES_ID[name] and id)) and #arguments <= 2
  if not fits then
    return message.error(("there is no :Outrigger %s, see :help :Outrigger"):format(table.concat(arguments, " ")))
  end
  command(id)
end

--- What may follow on this command line.
function M.complete(line)
  local words = vim.split(line, "%s+")
  local typed = words[#words]
  local offered = {}
  if #words == 2 then
    offered = vim.tbl_keys(COMMANDS)
    table.sort(offered)
  elseif #words == 3 and TAKES_ID[words[2]] then
    offered = vim.tbl_map(tostring, proposals.ids())
  elseif #words == 3 and words[2] == "connect" then
    offered = vim.tbl_keys(WHICH)
    table.sort(offered)
  end
  return vim.tbl_filter(function(word)
    return vim.startswith(word, typed)
  end, offered)
end

return M
