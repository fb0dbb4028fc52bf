--- `:Outrigger`: what can be typed, and what it does. `require("outrigger")` has the same for Lua code.

local chat = require("outrigger.chat")
local companion = require("outrigger.companion")
local log = require("outrigger.log")
local message = require("outrigger.message")
local page = require("outrigger.page")
local proposals = require("outrigger.proposals")
local status = require("outrigger.status")

local M = {}

local function outrigger()
  return require("outrigger")
end

local function show_status()
  local facts = companion.facts()
  if not status.get() then
    return message.info(("the companion is %s; see :checkhealth outrigger"):format(status.state()))
  end
  local where = ("outrigger %s on port %s for %s"):format(facts.version, facts.port, table.concat(facts.folders, ", "))
  vim.api.nvim_echo({ { where .. "\n" .. status.get().summary } }, true, {})
end

local COMMANDS = {
  status = show_status,
  open = page.open,
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
