--- A conversation with a daemon: a buffer that shows it, and pickers for what it asks.
---
--- The companion keeps the conversation; this shows what it says and sends what the person says.

local attention = require("outrigger.attention")
local link = require("outrigger.link")
local message = require("outrigger.message")

local M = {}

local NAME = "outrigger://chat"

--- Who speaks, as a heading.
local SPEAKERS = { me = "You", other = "You, elsewhere", agent = "Agent", thought = "Thinking" }

--- How a connection is, for people.
local STATES = {
  off = "not connected",
  starting = "starting a daemon",
  connecting = "connecting",
  catchingUp = "catching up",
  live = "connected",
  reconnecting = "reconnecting",
}

--- What is known: `status`, `requests`, and `entries` by number with the numbers in `order`.
local known = { status = nil, requests = {}, entries = {}, order = {} }
--- Requests that the person was told about.
local told = {}
local buffer = nil
local drawing = false

local function split(text)
  return vim.split(text:gsub("\r", ""), "\n", { plain = true })
end

local function add(lines, text)
  vim.list_extend(lines, split(text))
end

--- The lines of a tool call: what it is, and what it shows.
local function tool_lines(lines, tool)
  add(lines, ("[%s] %s"):format(tool.status or "…", tool.title or tool.tool or tool.id))
  if tool.command then
    add(lines, "    $ " .. tool.command)
  end
  for _, shown in ipairs(tool.content or {}) do
    if shown.type == "text" then
      for _, line in ipairs(split(shown.text)) do
        table.insert(lines, "    " .. line)
      end
    else
      table.insert(lines, "    edits " .. shown.path.daemonPath)
    end
  end
end

local function entry_lines(lines, entry)
  if entry.kind == "said" then
    add(lines, ("## %s"):format(SPEAKERS[entry.speaker] or entry.speaker))
    add(lines, entry.text)
  elseif entry.kind == "tool" then
    tool_lines(lines, entry.tool)
  elseif entry.kind == "plan" then
    for _, step in ipairs(entry.steps) do
      add(lines, ("- [%s] %s"):format(step.status == "completed" and "x" or " ", step.text))
    end
  elseif entry.kind == "ended" then
    add(lines, ("— the turn is %s%s —"):format(entry.how, entry.why and ": " .. entry.why or ""))
  else
    add(lines, ("— %s —"):format(entry.text))
  end
  table.insert(lines, "")
end

--- Where the daemon works and how the connection is, in a line or two.
local function head_lines(lines, status)
  local connection = status.connection
  local how = STATES[connection.state] or connection.why
  local place = status.place
  local where = place and ("; runs in %s on %s"):format(place.workspace.daemonPath, place.machine or "this machine")
  add(lines, ("# %s (%s%s)"):format(status.title or "Conversation", how, where or ""))
  if connection.hint then
    add(lines, connection.hint)
  end
  if status.model then
    add(lines, ("model %s, mode %s%s"):format(status.model, status.mode or "?", status.busy and ", working" or ""))
  end
  table.insert(lines, "")
end

--- Everything that is known, as lines.
function M.lines()
  local lines = {}
  if known.status then
    head_lines(lines, known.status)
  end
  for _, id in ipairs(known.order) do
    entry_lines(lines, known.entries[id])
  end
  for _, request in ipairs(known.requests) do
    add(lines, ("? %s (:Outrigger answer)"):format(request.title))
  end
  return lines
end

local function draw()
  drawing = false
  if not (buffer and vim.api.nvim_buf_is_valid(buffer)) then
    return
  end
  local before = vim.api.nvim_buf_line_count(buffer)
  vim.bo[buffer].modifiable = true
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, M.lines())
  vim.bo[buffer].modifiable = false
  local last = vim.api.nvim_buf_line_count(buffer)
  -- Whoever was at the end stays there.
  for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
    if vim.api.nvim_win_get_cursor(window)[1] >= before then
      vim.api.nvim_win_set_cursor(window, { last, 0 })
    end
  end
end

--- Draws soon: what is said comes in many small pieces.
local function draw_soon()
  if not drawing then
    drawing = true
    vim.defer_fn(draw, 50)
  end
end

local function put(entry)
  if not known.entries[entry.id] then
    table.insert(known.order, entry.id)
  end
  known.entries[entry.id] = entry
end

local function answer(request, reply)
  link.request("outrigger/daemon/answer", { request = request.request, reply = reply }, function(result)
    if not result.counted then
      message.info("somebody else was faster")
    end
  end)
end

--- Asks one question after the other, then sends all answers.
local function ask_questions(request, at, answers)
  local question = request.questions[at]
  if not question then
    return answer(request, { answers = answers })
  end
  local labels = vim.tbl_map(function(it)
    return it[1]
  end, question.answers)
  local function go_on(chosen)
    if chosen then
      answers[at] = chosen
      ask_questions(request, at + 1, answers)
    end
  end
  local function own()
    local hint = question.several and (" (" .. table.concat(labels, ", ") .. ")") or ""
    vim.ui.input({ prompt = question.question .. hint .. " " }, function(text)
      go_on(text and vim.split(text, "%s*,%s*"))
    end)
  end
  if question.several then
    return own()
  end
  local other = "something else…"
  vim.ui.select(vim.list_extend(vim.deepcopy(labels), { other }), { prompt = question.question }, function(chosen)
    if chosen == other then
      own()
    else
      go_on(chosen and { chosen })
    end
  end)
end

--- Shows the editor's own picker for a request. Nothing is chosen by not choosing.
local function pick(request)
  if request.questions then
    return ask_questions(request, 1, {})
  end
  local what = request.tool.command and (request.title .. "\n" .. request.tool.command) or request.title
  vim.ui.select(request.options, {
    prompt = what,
    format_item = function(option)
      return option.title
    end,
  }, function(option)
    if option then
      answer(request, { option = option.id })
    end
  end)
end

--- Tells the person what is new, or asks at once if they are free.
local function mind_requests(requests)
  known.requests = vim.tbl_filter(function(request)
    -- Edits come as diffs, and are decided there.
    return request.proposal == nil
  end, requests)
  local still = {}
  for _, request in ipairs(known.requests) do
    if not told[request.request] then
      if attention.is_free() then
        pick(request)
      else
        message.info(request.title .. " (:Outrigger answer)")
      end
    end
    still[request.request] = true
  end
  told = still
end

--- Everything at once.
function M.all(params)
  known = { status = params.status, requests = {}, entries = {}, order = {} }
  vim.tbl_map(put, params.entries)
  mind_requests(params.requests)
  draw_soon()
end

--- One step.
function M.change(params)
  local kind = params.change
  if kind == "put" then
    put(params.entry)
  elseif kind == "append" then
    local entry = known.entries[params.id]
    entry.text = entry.text .. params.text
  elseif kind == "shorten" then
    known.order = vim.tbl_filter(function(id)
      local stays = id >= params.first
      known.entries[id] = stays and known.entries[id] or nil
      return stays
    end, known.order)
  elseif kind == "clear" then
    known.entries, known.order = {}, {}
  elseif kind == "status" then
    known.status = params.status
  elseif kind == "requests" then
    mind_requests(params.requests)
  end
  draw_soon()
end

--- The companion is gone; another one will say everything again.
function M.forget()
  known = { status = nil, requests = {}, entries = {}, order = {} }
  draw_soon()
end

local function create()
  buffer = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(buffer, NAME)
  vim.bo[buffer].filetype = "markdown"
  vim.bo[buffer].modifiable = false
  vim.keymap.set("n", "<CR>", M.say, { buffer = buffer, desc = "Say something" })
end

--- Opens the conversation, and follows it from now on.
function M.open()
  link.request("outrigger/daemon/follow", { follow = true }, function()
    if not (buffer and vim.api.nvim_buf_is_valid(buffer)) then
      create()
    end
    local window = vim.fn.bufwinid(buffer)
    if window ~= -1 then
      vim.api.nvim_set_current_win(window)
    else
      vim.cmd("botright vsplit")
      vim.api.nvim_win_set_buf(0, buffer)
      vim.wo.wrap, vim.wo.linebreak = true, true
    end
    draw()
    vim.api.nvim_win_set_cursor(0, { vim.api.nvim_buf_line_count(buffer), 0 })
  end)
end

--- Says something; asks what if `text` is nil. `@path` and `@selection` attach what they name.
function M.say(text)
  if text and text ~= "" then
    return link.request("outrigger/daemon/prompt", { text = text, mentions = true })
  end
  vim.ui.input({ prompt = "Say: " }, function(typed)
    if typed and typed ~= "" then
      M.say(typed)
    end
  end)
end

--- Shows the picker for what has waited longest.
function M.answer()
  local request = known.requests[1]
  if request then
    pick(request)
  else
    message.info("nothing waits for an answer")
  end
end

--- Lets the person choose one of `choices`, each with `id` and `name`, and sends it as `field`.
local function choose(field, choices, prompt)
  vim.ui.select(choices or {}, {
    prompt = prompt,
    format_item = function(choice)
      return choice.name
    end,
  }, function(choice)
    if choice then
      link.request("outrigger/daemon/" .. field, { [field] = choice.id })
    end
  end)
end

function M.model()
  choose("model", (known.status or {}).models, "Model")
end

function M.mode()
  choose("mode", (known.status or {}).modes, "What the agent may do without asking")
end

function M.stop()
  link.request("outrigger/daemon/cancel")
end

--- Connects to the last conversation, or to a new one, or starts a daemon first.
function M.connect(which)
  if which == "start" then
    return link.request("outrigger/daemon/start")
  end
  link.request("outrigger/daemon/connect", { which = which or "last" })
end

--- Lets the person choose one of the earlier conversations.
function M.sessions()
  link.request("outrigger/daemon/earlier", nil, function(result)
    vim.ui.select(result.sessions, {
      prompt = "Conversation",
      format_item = function(session)
        return ("%s%s"):format(session.title or "without a title", session.current and " (this one)" or "")
      end,
    }, function(session)
      if session then
        M.connect({ earlier = session.key })
      end
    end)
  end)
end

return M
