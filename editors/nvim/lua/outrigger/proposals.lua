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
--- How often to look whether a command was typed to its end, in milliseconds.
local PAUSE = 50

--- Everything that is pending, oldest first. Each has its `proposal`, and when it `came`; its
--- `review` while it is on the screen; `told` once the person knows of it; `stale` is what they were
--- told about its file; `aside` if they have seen it and gone on; `decided` once they have decided;
--- `typed` is what they had made of the text when its review went away without being over, and
--- `known` what the companion was told of that last.
local pending = {}
--- What the person had made of proposals when the companion died, by number.
local drafts = {}
--- The newest texts of proposals that wait until a command was typed to its end, by number. An older
--- one that came later would make every verdict stale. `looking` says that a timer runs for them.
local waiting, looking = {}, false

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

local function name(it)
  return review.name(it.proposal)
end

local function describe(it)
  local what = it.proposal.original and "a change to" or "the new file"
  return ("%s proposes %s %s"):format(review.who(it.proposal), what, name(it))
end

local function facts(it)
  return { id = it.proposal.id, path = it.proposal.path, agent = it.proposal.agent }
end

--- Says once that the file is not what the agent has read.
local function tell_stale(it)
  local stale = it.proposal.stale
  if stale and stale ~= it.stale then
    message.warn(("%s: %s"):format(name(it), stale))
  end
  it.stale = stale
end

--- What the person has made of the text, of which original, in which revision.
local function draft(it, text)
  return text and { text = text, original = it.proposal.original, revision = it.proposal.revision }
end

--- The same as it is now; nil if they have changed nothing.
local function typed(it)
  return it.review and draft(it, it.review:text()) or it.typed
end

local next_one

local function decide(it, verdict)
  if it.decided then
    return
  end
  it.decided = true
  it.typed = draft(it, verdict.text)
  verdict.id, verdict.revision = it.proposal.id, it.proposal.revision
  connection.request("outrigger/proposal/verdict", verdict, function(result)
    if not result.delivered then
      message.info(result.message)
    end
  end, function(why)
    message.warn(why)
    it.decided = false
    if it.review then
      it.typed = nil
      it.review:undecided()
    else
      -- `:wq` has closed it, but nothing was decided.
      it.aside = nil
      next_one()
    end
  end)
end

local function put_away(it)
  if it.review then
    it.typed = typed(it)
    it.review:close()
    it.review = nil
  end
end

--- Shows other texts of a proposal, where it is.
local function replace(it, proposal)
  if it.review then
    -- Before its revision is taken: a verdict must not name one that is not on the screen.
    it.review:revise(proposal)
  end
  it.proposal, it.typed, it.known = proposal, nil, nil
  if it.review then
    tell_stale(it)
  end
end

--- What was typed cannot be brought into the new text; it is where the person can paste it from.
local function keep_apart(it, text)
  vim.fn.setreg('"', text)
  message.warn(name(it) .. " has changed too much for what you had typed; p puts your text")
end

--- The companion has another text for a proposal. `known` is what it has been told of the person's
--- edits. If there are more, because they go on typing, those are brought into the new text first.
local function revise(it, proposal, known)
  local mine = typed(it)
  if mine and mine.original == proposal.original then
    mine.revision, mine.lost = proposal.revision, nil
    it.proposal, it.known = proposal, nil
    if it.review then
      it.review:keep(proposal)
    end
    return
  elseif not mine or mine.text == known then
    return replace(it, proposal)
  elseif mine.lost then
    replace(it, proposal)
    return keep_apart(it, mine.text)
  end
  local function failed()
    if find(proposal.id) == it then
      replace(it, proposal)
      keep_apart(it, mine.text)
    end
  end
  local update = { id = proposal.id, text = mine.text, revision = mine.revision }
  connection.request("outrigger/proposal/update", update, function()
    connection.request("outrigger/proposal/list", nil, function(result)
      for _, listed in ipairs(result.proposals) do
        if listed.id == proposal.id and find(listed.id) == it then
          revise(it, listed, mine.text)
        end
      end
    end, failed)
  end, failed)
end

--- Shows the texts that wait, unless the person types a command: `:w` means what they have seen.
local function revise_waiting()
  if vim.api.nvim_get_mode().mode:match("^[cr]") then
    if not looking then
      looking = true
      vim.defer_fn(function()
        looking = false
        revise_waiting()
      end, PAUSE)
    end
    return
  end
  local newest = waiting
  waiting = {}
  for id, proposal in pairs(newest) do
    local it = find(id)
    if it then
      revise(it, proposal, it.known)
    end
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
  if not ok then
    it.told, it.aside = true, true
    return message.error(("cannot show the diff: %s"):format(opened))
  end
  it.review, it.told, it.aside = opened, true, nil
  if it.typed then
    opened:set_text(it.typed.text)
    it.typed = nil
  end
  tell_stale(it)
end

--- Brings the next proposal to the front as soon as the person may be interrupted.
next_one = interrupt.watcher(function()
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

--- A proposal came, or has other texts; says that it will be shown.
function M.open(proposal)
  local it, index = find(proposal.id)
  if it and it.proposal.session == proposal.session then
    waiting[proposal.id] = proposal
    revise_waiting()
    return { opened = true }
  elseif it then
    waiting[proposal.id] = nil
    put_away(it)
    table.remove(pending, index)
  end
  it = { proposal = proposal, came = uv.now() }
  table.insert(pending, it)
  local kept = drafts[proposal.id]
  drafts[proposal.id] = nil
  if kept and kept.path == proposal.path then
    it.typed = kept
    revise(it, proposal)
  end
  event.fire("OutriggerProposalOpened", facts(it))
  next_one()
  return { opened = true }
end

--- The companion is about to send other texts; returns what the person has made of the present one.
function M.text(about)
  local it = find(about.id)
  local answer = vim.empty_dict()
  local mine = it and typed(it)
  if mine then
    it.known, answer.text = mine.text, mine.text
  end
  return answer
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
    drafts[over.id], waiting[over.id] = nil, nil
    -- What was accepted has the unsaved changes in it that the left side had.
    reload.expect(it.proposal.path, over.outcome == "accepted" and it.proposal.original or nil)
    if not it.decided then
      message.info(over.message)
    end
    event.fire("OutriggerProposalClosed", vim.tbl_extend("error", facts(it), { outcome = over.outcome }))
    next_one()
  end
  return answer
end

--- The companion is gone: what is still pending comes again with the next one. What the person has
--- typed is kept until then. The next companion knows only the first revision of those so far.
function M.forget()
  for _, it in ipairs(pending) do
    local mine = typed(it)
    if mine then
      mine.path, mine.lost = it.proposal.path, mine.revision ~= 1
      drafts[it.proposal.id] = mine
    end
    put_away(it)
  end
  pending, waiting = {}, {}
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
    local mine = typed(it)
    decide(it, { accepted = true, text = mine and mine.text or nil })
  end
end

function M.reject(id)
  local it = meant(id)
  if it then
    decide(it, { accepted = false })
  end
end

return M
