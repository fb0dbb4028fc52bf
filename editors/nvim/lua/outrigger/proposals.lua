--- The queue of proposals that are pending. One at a time is on the screen.

local connection = require("outrigger.connection")
local event = require("outrigger.event")
local interrupt = require("outrigger.interrupt")
local message = require("outrigger.message")
local reload = require("outrigger.reload")
local review = require("outrigger.review")

local uv = vim.uv or vim.loop

local M = {}

--- How long a proposal waits for a moment to interrupt before the person is told, in milliseconds.
local BEFORE_TELLING = 1000

--- Everything that is pending, oldest first. Each has its `proposal`, and when it `came`; its
--- `review` while it is on the screen; `told` once the person knows of it; `aside` if they have seen
--- it and gone on; `decided` once they have decided.
local pending = {}
--- What the person had made of proposals when the companion died, by number.
local drafts = {}

local function find(id)
  for index, it in ipairs(pending) do
    if it.proposal.id == id then
      return it, index
    end
  end
end

local function shown()
  for _, it in ipairs(pending) do
    if it.review then
      return it
    end
  end
end

local function describe(it)
  local name = vim.fn.fnamemodify(it.proposal.path, ":t")
  local what = it.proposal.original and "a change to" or "the new file"
  return ("%s proposes %s %s"):format(it.proposal.agent, what, name)
end

local function facts(it)
  return { id = it.proposal.id, path = it.proposal.path, agent = it.proposal.agent }
end

local function decide(it, verdict)
  if it.decided then
    return
  end
  it.decided = true
  if it.review then
    it.review:decided()
  end
  verdict.id = it.proposal.id
  connection.request("outrigger/proposal/verdict", verdict, function(result)
    if not result.delivered then
      message.info(result.message)
    end
  end, function(why)
    message.warn(why)
    it.decided = false
    if it.review then
      it.review:undecided()
    end
  end)
end

local function put_away(it)
  if it.review then
    it.review:close()
    it.review = nil
  end
end

local function present(it)
  local ok, opened = pcall(review.open, it.proposal, {
    written = function(text)
      decide(it, { accepted = true, text = text })
    end,
    closed = function()
      put_away(it)
      decide(it, { accepted = false })
    end,
    aside = function()
      put_away(it)
      it.aside = true
    end,
  })
  if ok then
    it.review, it.told, it.aside = opened, true, nil
    local draft = drafts[it.proposal.id]
    drafts[it.proposal.id] = nil
    if draft and draft.path == it.proposal.path then
      opened:set_text(draft.text)
    end
  else
    it.told, it.aside = true, true
    message.error(("cannot show the diff: %s"):format(opened))
  end
end

--- Brings the next proposal to the front as soon as the person may be interrupted.
local next_one = interrupt.watcher(function()
  if shown() then
    return false
  end
  local again = false
  for _, it in ipairs(pending) do
    if not it.aside and not it.decided then
      if interrupt.is_allowed() then
        present(it)
        return false
      end
      if not it.told and uv.now() - it.came >= BEFORE_TELLING then
        it.told = true
        message.info(describe(it) .. " (:Outrigger show)")
      end
      again = true
    end
  end
  return again
end)

--- A proposal came; says that it will be shown.
function M.open(proposal)
  local old, index = find(proposal.id)
  if old then
    put_away(old)
    table.remove(pending, index)
  end
  local it = { proposal = proposal, came = uv.now() }
  table.insert(pending, it)
  event.fire("OutriggerProposalOpened", facts(it))
  next_one()
  return { opened = true }
end

--- A proposal is over, whoever ended it; returns what the person has made of its text. They are told
--- unless it was their own decision.
function M.close(over)
  local it, index = find(over.id)
  local answer = vim.empty_dict()
  if it then
    answer.text = it.review and it.review:text()
    table.remove(pending, index)
    put_away(it)
    drafts[over.id] = nil
    reload.expect(it.proposal.path)
    if not it.decided then
      message.info(over.message)
    end
    event.fire("OutriggerProposalClosed", vim.tbl_extend("error", facts(it), { outcome = over.outcome }))
    next_one()
  end
  return answer
end

--- The companion is gone: what is still pending comes again with the next one. What the person has
--- typed is kept until then.
function M.forget()
  for _, it in ipairs(pending) do
    local text = it.review and it.review:text()
    if text then
      drafts[it.proposal.id] = { path = it.proposal.path, text = text }
    end
    put_away(it)
  end
  pending = {}
end

--- The numbers of all that is pending.
function M.ids()
  return vim.tbl_map(function(it)
    return it.proposal.id
  end, pending)
end

--- The proposal that the person means: by number, the one in front of them, or the only one.
local function meant(id)
  if id then
    local it = find(id)
    if not it then
      message.warn(("there is no proposal %d"):format(id))
    end
    return it
  end
  local it = shown() or pending[1]
  if not it then
    message.info("no proposal is pending")
  elseif #pending > 1 and not (it.review and it.review:is_in_front()) then
    message.warn("several proposals are pending; name one: " .. table.concat(M.ids(), ", "))
    return nil
  end
  return it
end

function M.show(id)
  local it = id and find(id) or shown() or pending[1]
  if not it then
    return message.info("no proposal is pending")
  end
  local other = shown()
  if other and other ~= it then
    put_away(other)
  end
  if it.review then
    it.review:focus()
  else
    present(it)
  end
end

function M.accept(id)
  local it = meant(id)
  if it then
    decide(it, { accepted = true, text = it.review and it.review:text() or nil })
  end
end

function M.reject(id)
  local it = meant(id)
  if it then
    decide(it, { accepted = false })
  end
end

return M
