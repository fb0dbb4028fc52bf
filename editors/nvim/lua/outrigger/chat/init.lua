--- A conversation with a daemon.
---
--- The companion keeps the conversation. This follows it while the person has it open, shows what it
--- says, and sends what the person says.

local entries = require("outrigger.chat.entries")
local prompt = require("outrigger.chat.prompt")
local requests = require("outrigger.chat.requests")
local status = require("outrigger.chat.status")
local Transcript = require("outrigger.chat.transcript")
local windows = require("outrigger.chat.windows")
local connection = require("outrigger.connection")
local message = require("outrigger.message")

local M = {}

--- How things stand while nothing was heard.
local UNKNOWN = { connection = { state = "waiting" } }

--- What is on the screen, or could be; nil until the person asks for it.
local transcript = nil
--- What was heard last: `status`, `requests`, and whether older parts are not kept.
local known = { status = UNKNOWN, requests = {}, shortened = false }

local function show_status()
  if transcript then
    transcript:set_head(status.head(known.status, known.shortened))
    transcript:set_tail(status.tail(known.status, known.requests))
  end
end

local function set_status(it)
  known.status = it
  prompt.set_commands(it.commands)
  show_status()
  vim.cmd("redrawstatus!")
end

local function set_requests(them)
  known.requests = them
  show_status()
  requests.set(them)
end

--- For the line above the conversation.
function M.state()
  return status.state(known.status)
end

function M.place()
  return status.place(known.status)
end

function M.doing()
  -- The window is the one whose line is drawn.
  local taken = vim.fn.strdisplaywidth(status.state(known.status)) + 4
  return status.doing(known.status, vim.fn.winwidth(0) - taken)
end

--- Everything at once.
function M.all(params)
  if not transcript then
    return
  end
  known.shortened = params.shortened
  transcript:reset(params.entries)
  set_status(params.status)
  set_requests(params.requests)
end

local CHANGES = {
  put = function(params)
    transcript:put(params.entry)
  end,
  append = function(params)
    transcript:append(params.id, params.text)
  end,
  shorten = function(params)
    transcript:shorten(params.first)
    known.shortened = true
    show_status()
  end,
  clear = function()
    transcript:reset({})
    known.shortened = false
    show_status()
  end,
  status = function(params)
    set_status(params.status)
  end,
  requests = function(params)
    set_requests(params.requests)
  end,
}

--- One step.
function M.change(params)
  local change = CHANGES[params.change]
  if transcript and change then
    change(params)
  end
end

local function show_trouble(why, hint)
  local connection = { state = "failed", why = why, hint = hint }
  set_status(vim.tbl_extend("force", known.status, { connection = connection, busy = false }))
end

local function follow()
  connection.request("outrigger/daemon/follow", { follow = true }, nil, function(why)
    show_trouble(why, "see :help outrigger-chat")
  end)
end

--- The companion is gone. What was said stays on the screen until another one says it again.
function M.forget()
  if transcript then
    set_requests({})
    show_trouble("the companion has ended", "see :Outrigger log")
  end
end

--- Another companion is there.
function M.resume()
  if transcript then
    follow()
  end
end

--- The person has thrown the buffer away, and with it what waits in it.
local function close()
  local buffer = transcript.buffer
  transcript, known = nil, { status = UNKNOWN, requests = {}, shortened = false }
  requests.set({})
  if connection.is_up() then
    connection.request("outrigger/daemon/follow", { follow = false })
  end
  vim.schedule(function()
    pcall(vim.api.nvim_buf_delete, buffer, { force = true })
  end)
end

local function create()
  transcript = Transcript.new()
  local buffer = transcript.buffer
  windows.prepare_transcript(buffer)
  vim.api.nvim_create_autocmd("BufUnload", { buffer = buffer, once = true, callback = close })
  for _, key in ipairs({ "<CR>", "i", "a", "o" }) do
    vim.keymap.set("n", key, M.open, { buffer = buffer, desc = "Say something" })
  end
  vim.keymap.set("n", "<C-c>", M.stop, { buffer = buffer, desc = "End what the agent is doing" })
  show_status()
  follow()
end

--- Shows the conversation in this tab, and follows it from now on. Returns where to write.
local function show()
  if not transcript then
    create()
  end
  local writing = prompt.buffer(M.say_what_is_written, M.stop)
  windows.show(transcript.buffer, writing)
  return writing
end

--- Goes to the conversation, to write.
function M.open()
  windows.enter(show())
end

local function send(text, failed)
  connection.request("outrigger/daemon/prompt", { text = text, mentions = true }, nil, function(why)
    message.warn(why)
    failed()
  end)
end

--- Says something; the person stays where they are. Without a text they go to where they can write it.
--- `@path` and `@selection` attach what they name.
function M.say(text)
  if not text or text == "" then
    return M.open()
  end
  show()
  send(text, function()
    prompt.restore(text)
  end)
end

--- Says what the person has written.
function M.say_what_is_written()
  local text = prompt.take()
  if vim.trim(text) ~= "" then
    send(text, function()
      prompt.restore(text)
    end)
  end
end

M.answer = requests.answer

--- Lets the person choose one of `choices`, each with `id` and `name`, and sends it as `field`.
local function choose(field, choices, title)
  if not choices or #choices == 0 then
    return message.info("there is nothing to choose from; see :Outrigger chat")
  end
  vim.ui.select(choices, {
    prompt = title,
    format_item = function(choice)
      return entries.line(choice.name) .. (choice.id == known.status[field] and " (now)" or "")
    end,
  }, function(choice)
    if choice then
      connection.request("outrigger/daemon/" .. field, { [field] = choice.id })
    end
  end)
end

function M.model()
  choose("model", known.status.models, "Model")
end

function M.mode()
  choose("mode", known.status.modes, "What the agent may do without asking")
end

--- Ends what the agent is doing.
function M.stop()
  connection.request("outrigger/daemon/cancel")
end

--- Connects to the last conversation, or to a new one, or starts a daemon first.
function M.connect(which)
  show()
  if which == "start" then
    return connection.request("outrigger/daemon/start")
  end
  connection.request("outrigger/daemon/connect", { which = which or "last" })
end

--- Lets the person choose one of the earlier conversations.
function M.sessions()
  connection.request("outrigger/daemon/earlier", nil, function(result)
    vim.ui.select(result.sessions, {
      prompt = "Conversation",
      format_item = function(session)
        local title = entries.line(session.title or "without a title")
        local now = session.current and " (this one)" or session.busy and " (working)" or ""
        return title .. (session.updatedAt and ", " .. entries.line(session.updatedAt) or "") .. now
      end,
    }, function(session)
      if session then
        M.connect({ earlier = session.key })
      end
    end)
  end)
end

return M
