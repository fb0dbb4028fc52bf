local connection = require("outrigger.connection")
local proposals = require("outrigger.proposals")

local function hunk(number, line)
  return { number = number, originalStart = line, originalEnd = line + 1, proposedStart = line, proposedEnd = line + 1 }
end

local function proposal(id)
  return {
    id = id,
    path = "/w/a.txt",
    agent = "Some Agent",
    session = "s",
    original = "1\n2\n3\n",
    proposed = "1\n2\nTHREE\n",
    hunks = { hunk(1, 0), hunk(2, 2) },
    draftHunks = { hunk(1, 2) },
    dirty = false,
    editable = true,
  }
end

--- What the person is told when the proposal `id` is over.
local function told_at_close(id)
  local heard, notify = {}, vim.notify
  vim.notify = function(text)
    table.insert(heard, text)
  end
  proposals.close({ id = id, outcome = "withdrawn", message = "a.txt: taken back by its agent" })
  vim.notify = notify
  return heard
end

it("the person is told how a proposal ended, unless they have decided it", function()
  proposals.open(proposal(1))
  same(told_at_close(1), { "outrigger: a.txt: taken back by its agent" })
  same(told_at_close(1), {})
  local request = connection.request
  connection.request = function(_, _, done)
    done({ delivered = true, message = "a.txt: accepted" })
  end
  proposals.open(proposal(2))
  proposals.accept(2)
  connection.request = request
  same(told_at_close(2), {})
end)

it("the cursor is on the first hunk of the text that is shown", function()
  proposals.open(proposal(3))
  proposals.show(3)
  same(vim.fn.line("."), 3)
  told_at_close(3)
end)
