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
    revision = 1,
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

--- What is on both sides of the diff in front.
local function sides()
  local both = {}
  for _, window in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    if vim.api.nvim_win_get_config(window).relative == "" then
      table.insert(both, table.concat(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false), "\n"))
    end
  end
  return both
end

--- Answers the plugin's requests from `results`, by method, and returns those that were made.
local function with_companion(results, body)
  local request, asked = connection.request, {}
  connection.request = function(method, params, done, failed)
    table.insert(asked, { method, params })
    local result = results[method]
    if type(result) == "string" then
      failed(result)
    elseif result then
      done(result)
    end
  end
  local ok, why = xpcall(body, debug.traceback)
  connection.request = request
  assert(ok, why)
  return asked
end

local function revised(id, more)
  local texts = { revision = 2, original = "0\n1\n2\n3\n", proposed = "0\n1\n2\nTHREE\n", draftHunks = nil }
  return vim.tbl_extend("force", proposal(id), texts, { stale = "the file has changed" }, more or {})
end

--- What the person was told while `body` ran.
local function told_in(body)
  local heard, notify = {}, vim.notify
  vim.notify = function(text)
    table.insert(heard, text)
  end
  local ok, why = xpcall(body, debug.traceback)
  vim.notify = notify
  assert(ok, why)
  return heard
end

it("a proposal whose file has changed is shown anew in place", function()
  proposals.open(proposal(10))
  proposals.show(10)
  local window, tabs = vim.api.nvim_get_current_win(), #vim.api.nvim_list_tabpages()
  vim.fn.cursor(2, 1)
  same(proposals.text({ id = 10 }), vim.empty_dict())
  local heard = told_in(function()
    proposals.open(revised(10))
    proposals.open(revised(10, { revision = 3 }))
  end)
  same(heard, { "outrigger: a.txt: the file has changed" })
  same(sides(), { "0\n1\n2\n3", "0\n1\n2\nTHREE" })
  same({ vim.api.nvim_get_current_win(), #vim.api.nvim_list_tabpages() }, { window, tabs })
  same(vim.fn.getline("."), "2")
  same(vim.bo.modified, false)
  vim.cmd("silent! undo 0")
  same(sides()[2], "0\n1\n2\nTHREE", "undo goes back to a text of another file")
  told_at_close(10)
end)

it("what is accepted is on the screen, even if the left side is not", function()
  for id, close in pairs({ [20] = "only", [21] = "wincmd h | close" }) do
    proposals.open(proposal(id))
    proposals.show(id)
    vim.cmd(close)
    proposals.open(revised(id))
    same(sides(), { "0\n1\n2\nTHREE" }, close)
    local asked = with_companion({}, function()
      vim.cmd("write")
    end)
    same(asked[1][2], { id = id, accepted = true, revision = 2 }, close)
    told_at_close(id)
  end
end)

it("a text that cannot be shown is not accepted", function()
  proposals.open(proposal(22))
  proposals.show(22)
  local get_lines = vim.api.nvim_buf_get_lines
  vim.api.nvim_buf_get_lines = function()
    error("no")
  end
  same(pcall(proposals.open, revised(22)), false)
  vim.api.nvim_buf_get_lines = get_lines
  local asked = with_companion({}, function()
    vim.cmd("write")
  end)
  same(asked[1][2], { id = 22, accepted = true, revision = 1 })
  told_at_close(22)
end)

it("nothing changes under a command that is being typed", function()
  proposals.open(proposal(18))
  proposals.show(18)
  _G.during = function()
    proposals.open(revised(18))
    _G.meanwhile = sides()[2]
    return ""
  end
  local keys = vim.api.nvim_replace_termcodes(":<C-r>=v:lua.during()<CR><Esc>", true, false, true)
  vim.api.nvim_feedkeys(keys, "xt", false)
  same(_G.meanwhile, "1\n2\nTHREE")
  same(vim.wait(5000, function()
    return sides()[2] == "0\n1\n2\nTHREE"
  end), true)
  told_at_close(18)
end)

it("of several texts that wait for a command the newest is shown", function()
  proposals.open(proposal(23))
  proposals.show(23)
  -- As if it were typed, with timers that end when the test says so, the last one first.
  local get_mode, defer_fn, mode, timers = vim.api.nvim_get_mode, vim.defer_fn, "c", {}
  vim.api.nvim_get_mode = function()
    return { mode = mode, blocking = false }
  end
  vim.defer_fn = function(callback)
    table.insert(timers, callback)
  end
  local ok, why = pcall(function()
    proposals.open(revised(23))
    proposals.open(revised(23, { revision = 3, proposed = "0\n1\n2\nDREI\n" }))
    same(#timers, 1)
    timers[1]()
    same(sides()[2], "1\n2\nTHREE")
    mode = "n"
    -- This one comes before somebody has looked whether the command is over.
    proposals.open(revised(23, { revision = 4, proposed = "0\n1\n2\nTROIS\n" }))
    same(sides()[2], "0\n1\n2\nTROIS")
    for last = #timers, 1, -1 do
      timers[last]()
    end
  end)
  vim.api.nvim_get_mode, vim.defer_fn = get_mode, defer_fn
  assert(ok, why)
  same(sides()[2], "0\n1\n2\nTROIS")
  local asked = with_companion({}, function()
    proposals.accept(23)
  end)
  same(asked[1][2], { id = 23, accepted = true, revision = 4 })
  told_at_close(23)
end)

it("new texts take no focus", function()
  vim.cmd("silent file here")
  local home = vim.api.nvim_get_current_win()
  proposals.open(proposal(11))
  proposals.show(11)
  vim.api.nvim_set_current_win(home)
  proposals.open(revised(11))
  same(vim.api.nvim_get_current_win(), home)
  proposals.show(11)
  same(sides()[2], "0\n1\n2\nTHREE")
  told_at_close(11)
end)

it("what the person has typed is asked for, and comes back merged", function()
  proposals.open(proposal(12))
  proposals.show(12)
  vim.fn.setline(1, "MINE")
  same(proposals.text({ id = 12 }), { text = "MINE\n2\nTHREE\n" })
  proposals.open(revised(12, { proposed = "0\nMINE\n2\nTHREE\n" }))
  same(sides()[2], "0\nMINE\n2\nTHREE")
  same(vim.bo.modified, true)
  told_at_close(12)
end)

it("what was typed after the question is brought into the new text first", function()
  proposals.open(proposal(13))
  proposals.show(13)
  proposals.text({ id = 13 })
  vim.fn.setline(1, "LATE")
  local merged = revised(13, { proposed = "0\nLATE\n2\nTHREE\n" })
  local results = { ["outrigger/proposal/update"] = { hunks = {} }, ["outrigger/proposal/list"] = { proposals = { merged } } }
  local asked = with_companion(results, function()
    proposals.open(revised(13))
  end)
  same(asked[1][2], { id = 13, text = "LATE\n2\nTHREE\n", revision = 1 })
  same(sides()[2], "0\nLATE\n2\nTHREE")
  told_at_close(13)
end)

it("what cannot be brought into the new text can be pasted", function()
  proposals.open(proposal(14))
  proposals.show(14)
  vim.fn.setline(1, "LATE")
  local heard = told_in(function()
    with_companion({ ["outrigger/proposal/update"] = "too old" }, function()
      proposals.open(revised(14))
    end)
  end)
  same(#heard, 2, vim.inspect(heard))
  same(sides()[2], "0\n1\n2\nTHREE")
  same(vim.fn.getreg('"'), "LATE\n2\nTHREE\n")
  told_at_close(14)
end)

it("the same text again keeps what the person has typed", function()
  proposals.open(proposal(15))
  proposals.show(15)
  vim.fn.setline(1, "MINE")
  proposals.open(vim.tbl_extend("force", proposal(15), { revision = 3 }))
  same(sides()[2], "MINE\n2\nTHREE")
  local asked = with_companion({}, function()
    proposals.accept(15)
  end)
  same(asked[1][2], { id = 15, accepted = true, text = "MINE\n2\nTHREE\n", revision = 3 })
  told_at_close(15)
end)

it("a decision that is refused leaves the person in the review, and they are told why", function()
  proposals.open(proposal(16))
  proposals.show(16)
  local heard = told_in(function()
    local asked = with_companion({ ["outrigger/proposal/verdict"] = "one place is in conflict" }, function()
      vim.cmd("write")
    end)
    same(asked[1][2], { id = 16, accepted = true, revision = 1 })
  end)
  same(heard, { "outrigger: one place is in conflict" })
  same({ vim.bo.modified, vim.wo.diff }, { true, true })
  told_at_close(16)
end)

--- What stands above or below a window of the diff, without what says where to cut it off.
local function label(window)
  return (vim.wo[window][vim.fn.exists("+winbar") == 1 and "winbar" or "statusline"]:gsub("%%<", ""))
end

it("the review says what the sides are, and what is in conflict until it is resolved", function()
  local text = "<<<<<<< in the file now\n1\n=======\nONE\n>>>>>>> proposed\n"
  proposals.open(revised(17, { proposed = text, conflicts = 1, dirty = true, who = "Some Agent (2)" }))
  told_in(function()
    proposals.show(17)
  end)
  local left, right = vim.fn.win_getid(1), vim.fn.win_getid(2)
  same(label(left), "a.txt with your unsaved changes: the file has changed")
  same(label(right), "a.txt as Some Agent proposes | 1 in conflict (]x), :w accepts, :q rejects")
  same(#vim.fn.getmatches(), 1)
  vim.fn.setline(1, { "1", "", "", "", "" })
  vim.cmd("doautocmd TextChanged")
  same(label(right), "a.txt as Some Agent proposes | :w accepts, :q rejects")
  same(#vim.fn.getmatches(), 0)
  told_at_close(17)
end)

it("the review tells two sessions of an agent apart where there is room", function()
  local columns = vim.o.columns
  for id, case in pairs({
    [30] = { 140, "a.txt as Some Agent · process 4711 proposes" },
    [31] = { 120, "Some Agent · process 4711 proposes" },
    [32] = { 80, "a.txt as Some Agent proposes" },
  }) do
    vim.o.columns = case[1]
    proposals.open(vim.tbl_extend("force", proposal(id), { who = "Some Agent · process 4711" }))
    proposals.show(id)
    same(label(vim.fn.win_getid(2)), case[2] .. " | :w accepts, :q rejects")
    told_at_close(id)
  end
  vim.o.columns = columns
end)

it("the cursor is on the first hunk of the text that is shown", function()
  proposals.open(proposal(3))
  proposals.show(3)
  same(vim.fn.line("."), 3)
  told_at_close(3)
end)

--- Shows a proposal, and puts it away again.
local function with_review(more, body)
  local shown = vim.tbl_extend("force", proposal(90), more)
  proposals.open(shown)
  proposals.show(90)
  local ok, why = xpcall(body, debug.traceback)
  proposals.close({ id = 90, outcome = "withdrawn", message = "over" })
  assert(ok, why)
end

it("a name is shown, and never obeyed", function()
  vim.cmd("filetype on")
  vim.g.obeyed = nil
  local name = "%{execute('let g:obeyed=1')}%#Error#|let g:obeyed=2\nlet g:obeyed=3\n`touch x`#\27[2J\226\128\174.txt"
  with_review({ path = "/w/" .. name, who = name, stale = name }, function()
    vim.cmd("redrawstatus!")
    vim.cmd("redraw!")
    for _, window in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
      local buffer = vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(window))
      same(buffer:find("[%c]"), nil, buffer)
      local bar = vim.fn.exists("+winbar") == 1 and vim.wo[window].winbar or vim.wo[window].statusline
      same(bar:find("[%c]"), nil, bar)
      -- Every other one is an item of ours.
      same((bar:gsub("%%%%", ""):gsub("%%<", "")):find("%%"), nil, bar)
    end
  end)
  same(vim.g.obeyed, nil)
end)

it("what an agent writes sets no options", function()
  vim.cmd("filetype on")
  vim.o.modeline, vim.o.modelines = true, 5
  local obeyed = "# vim: set ts=13 shiftwidth=13 :\n"
  with_review({ path = "/w/a.py", original = obeyed, proposed = obeyed .. "x\n" }, function()
    for _, window in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
      local buffer = vim.api.nvim_win_get_buf(window)
      same({ vim.bo[buffer].tabstop ~= 13, vim.bo[buffer].modeline }, { true, false })
      same(vim.bo[buffer].filetype, "python")
      -- Whoever runs autocommands there gets nothing out of it either.
      vim.api.nvim_buf_call(buffer, function()
        vim.cmd("doautocmd User Nothing")
      end)
      same(vim.bo[buffer].tabstop ~= 13, true)
    end
  end)
end)

it("a pipe in the place of a file is not waited for", function()
  local path = vim.fn.tempname()
  vim.fn.writefile({ "old" }, path)
  vim.cmd("edit " .. path)
  vim.o.autoread = true
  vim.fn.delete(path)
  vim.fn.system({ "mkfifo", path })
  require("outrigger.reload").expect(path)
  local looks, stat = 0, (vim.uv or vim.loop).fs_stat
  local uv = vim.uv or vim.loop
  uv.fs_stat = function(...)
    looks = looks + 1
    return stat(...)
  end
  -- A look that opened it would never come back.
  local looked = vim.wait(20000, function()
    return looks > 1
  end, 10)
  uv.fs_stat = stat
  same(looked, true)
  same(vim.api.nvim_buf_get_lines(0, 0, -1, false), { "old" })
  vim.cmd("bwipeout!")
end)
