--- What the daemon wants from the person, in the picker that they have chosen for |vim.ui.select()|.
---
--- Edits are not asked about here: they come as diffs, and are decided there. Nothing is decided by
--- not choosing.

local entries = require("outrigger.chat.entries")
local connection = require("outrigger.connection")
local interrupt = require("outrigger.interrupt")
local message = require("outrigger.message")
local text_of = require("outrigger.text")

local uv = vim.uv or vim.loop

local M = {}

--- How long a request waits for a moment to interrupt before the person is told, in milliseconds.
local BEFORE_TELLING = 1000

local OTHER = "something else…"
local ENOUGH = "that is all"
local NO_ANSWER = "no answer"

--- What waits, oldest first. Each has its `request` and when it `came`; `told` once the person knows
--- of it, `asked` once it was in a picker.
local waiting = {}
--- The one that is in a picker, and whether that is Neovim's own, which holds up everything else.
local picking, holding = nil, false

local function find(id)
  for _, it in ipairs(waiting) do
    if it.request.request == id then
      return it
    end
  end
end

local function answer(request, reply)
  local params = { request = request.request, reply = reply }
  connection.request("outrigger/daemon/answer", params, function(result)
    if not result.counted then
      message.after_picker("somebody else was faster")
    end
  end)
end

local ask_next

--- Whether a request still waits; if not, the person is told.
local function still_waits(it)
  local waits = find(it.request.request) ~= nil
  if not waits then
    message.after_picker("it was answered elsewhere")
  end
  return waits
end

--- Lets the person choose one of `items`.
local function select(it, items, options, chosen)
  picking, holding = it, true
  vim.ui.select(items, options, function(item, index)
    picking = nil
    if still_waits(it) and item then
      chosen(item, index)
    end
    ask_next()
  end)
  holding = false
end

local function pick_option(it)
  local request = it.request
  local title, command = entries.line(request.title), request.tool.command
  local is_told = not command or title:find(command, 1, true)
  local prompt = is_told and title or title .. "\n" .. table.concat(text_of.visible_lines(command), "\n  | ")
  if request.unreviewed then
    prompt = prompt .. "\n" .. entries.line(request.unreviewed)
  end
  select(it, request.options, {
    prompt = prompt,
    format_item = function(option)
      return entries.line(option.title) .. (option.lasts and " (and not asked again)" or "")
    end,
  }, function(option)
    answer(request, { option = option.id })
  end)
end

local ask

--- Sends the answers, or goes on to the next question.
local function take(it, answers, chosen)
  table.insert(answers, chosen)
  if #answers == #it.request.questions then
    answer(it.request, { answers = answers })
  else
    ask(it, answers)
  end
end

--- Asks the next question. `several` are the answers so far if there may be several.
function ask(it, answers, several)
  local question = it.request.questions[#answers + 1]
  local items, labels = {}, {}
  local function offer(label, meaning)
    local mark = several and (vim.tbl_contains(several, label) and "[x] " or "[ ] ") or ""
    table.insert(items, mark .. entries.line(meaning and ("%s: %s"):format(label, meaning) or label))
    table.insert(labels, label)
  end
  several = several or (question.several and {} or nil)
  for _, offered in ipairs(question.answers) do
    offer(offered[1], type(offered[2]) == "string" and offered[2] or nil)
  end
  for _, own in ipairs(several or {}) do
    if not vim.tbl_contains(labels, own) then
      offer(own)
    end
  end
  local own = #items + 1
  vim.list_extend(items, { OTHER, several and ENOUGH or NO_ANSWER, several and NO_ANSWER or nil })

  local function give(label)
    if not several then
      return take(it, answers, { label })
    end
    local others = vim.tbl_filter(function(other)
      return other ~= label
    end, several)
    if #others == #several then
      table.insert(others, label)
    end
    ask(it, answers, others)
  end

  select(it, items, { prompt = entries.line(question.question) }, function(item, index)
    if index < own then
      give(labels[index])
    elseif item == OTHER then
      vim.ui.input({ prompt = entries.line(question.question) .. " " }, function(text)
        if text and text ~= "" and still_waits(it) then
          give(text)
        end
      end)
    elseif item == ENOUGH then
      take(it, answers, several)
    else
      answer(it.request, "decline")
    end
  end)
end

local function pick(it)
  it.asked, it.told = true, true
  if it.request.questions then
    ask(it, {})
  else
    pick_option(it)
  end
end

--- Asks about the oldest request as soon as the person may be interrupted.
ask_next = interrupt.watcher(function()
  local again = false
  for _, it in ipairs(waiting) do
    if not it.asked and not picking then
      again = true
      if interrupt.is_allowed() then
        pick(it)
        return false
      elseif not it.told and uv.now() - it.came >= BEFORE_TELLING then
        it.told = true
        message.info(message.brief(it.request.title) .. " (:Outrigger answer)")
      end
    end
  end
  return again
end)

--- These wait now. What somebody else has answered is taken off the screen, if Neovim lets us: a
--- picker of the person's own stays, and choosing there says that it is too late.
function M.set(requests)
  local before = waiting
  waiting = {}
  for _, request in ipairs(requests) do
    if not request.proposal then
      local known = vim.tbl_filter(function(it)
        return it.request.request == request.request
      end, before)[1]
      table.insert(waiting, known or { request = request, came = uv.now() })
    end
  end
  if picking and holding and not find(picking.request.request) then
    vim.api.nvim_input("<Esc>")
  end
  ask_next()
end

--- Shows the picker for what has waited longest.
function M.answer()
  if waiting[1] then
    pick(waiting[1])
  else
    message.info("nothing waits for an answer")
  end
end

return M
