local chat = require("outrigger.chat")
local connection = require("outrigger.connection")

local request, select, input, notify = connection.request, vim.ui.select, vim.ui.input, vim.notify

--- Runs `body` with a conversation on the screen. `sent` gets what is said to the companion, and
--- `told` what the person is told; `answers` are what the companion answers, by method.
local function conversing(body)
  local sent, told, answers = {}, {}, { answer = { counted = true } }
  connection.request = function(method, params, done, failed)
    method = method:match("[^/]+$")
    if method ~= "follow" then
      table.insert(sent, { method, params })
    end
    local answer = answers[method] or {}
    if answer.error and failed then
      failed(answer.error)
    elseif done then
      done(answer)
    end
  end
  vim.notify = function(text)
    table.insert(told, text)
  end
  local ok, why = xpcall(function()
    chat.open()
    vim.cmd("stopinsert")
    body(sent, told, answers)
  end, debug.traceback)
  vim.cmd("silent! %bwipeout!")
  connection.request, vim.ui.select, vim.ui.input, vim.notify = request, select, input, notify
  assert(ok, why)
end

local function status(more)
  return vim.tbl_extend("force", {
    connection = { state = "live" },
    title = "Tea",
    place = {
      machine = "elm",
      workspace = { daemonPath = "/w" },
      locality = { "Files, MCP servers, skills and credentials are those of elm:/w." },
    },
    busy = false,
    model = "m",
    mode = "plan",
    models = { { id = "m", name = "M" }, { id = "n", name = "N" } },
  }, more or {})
end

local function said(id, speaker, text)
  return { id = id, kind = "said", speaker = speaker, text = text }
end

local function all(entries, more)
  chat.all({ status = status(more), requests = {}, entries = entries, shortened = false })
end

local function put(entry)
  chat.change({ change = "put", entry = entry })
end

local function append(id, text)
  chat.change({ change = "append", id = id, text = text })
end

local function transcript()
  return vim.fn.bufnr("outrigger://chat")
end

local function window()
  return vim.fn.bufwinid(transcript())
end

--- Everything below the head, which takes three lines.
local function lines()
  return vim.api.nvim_buf_get_lines(transcript(), 3, -1, false)
end

local HEAD = { "# Tea", "Files, MCP servers, skills and credentials are those of elm:/w.", "" }

it("a conversation is shown as it is put together", function()
  conversing(function()
    all({ said(1, "me", "hello"), said(2, "agent", "Hi ") })
    append(2, "there")
    local tool = { id = "t", title = "Shell", status = "in_progress", command = "ls" }
    put({ id = 3, kind = "tool", tool = tool })
    same({ lines()[7], lines()[8] }, { "▸ Shell ls: in progress", "  $ ls" })
    tool = { id = "t", title = "Shell", status = "completed", content = { { type = "text", text = "a\nb" } } }
    put({ id = 3, kind = "tool", tool = tool })
    put({ id = 4, kind = "plan", steps = { { text = "tea", status = "completed" }, { text = "milk" } } })
    put({ id = 5, kind = "ended", how = "cancelled" })
    local wanted = vim.split(
      "## You|hello||## Agent|Hi there||▸ Shell: completed|  a|  b||"
        .. "## Plan|- [x] tea|- [ ] milk||— the turn was cancelled —|",
      "|"
    )
    same(vim.api.nvim_buf_get_lines(transcript(), 0, 3, false), HEAD)
    same(lines(), wanted)
    chat.change({ change = "shorten", first = 5 })
    same(vim.api.nvim_buf_get_lines(transcript(), 2, -1, false), {
      "— what was said before is not kept —",
      "",
      "— the turn was cancelled —",
      "",
    })
    put(said(6, "agent", "more"))
    append(6, "\nand more")
    same(vim.list_slice(lines(), #lines() - 3), { "## Agent", "more", "and more", "" })
    chat.change({ change = "clear" })
    same(vim.api.nvim_buf_get_lines(transcript(), 0, -1, false), HEAD)
    same({ chat.state(), chat.place(), chat.doing() }, { "connected", "elm:/w", "M, plan" })
    chat.change({ change = "status", status = { connection = { state = "off" }, mode = "plan", busy = true } })
    same({ chat.state(), chat.place(), chat.doing() }, { "not connected", "", "plan, working" })
    chat.change({ change = "status", status = { connection = { state = "off" } } })
    same(chat.doing(), "")
    chat.change({ change = "status", status = { connection = { state = "live" } } })
    same(chat.doing(), "mode not known")
  end)
end)

it("what is not text is a line, and what a newer program says is not lost", function()
  conversing(function()
    local link = { type = "link", name = "a", uri = "file:///a" }
    local function attached(id, speaker, text)
      return { id = id, kind = "attached", speaker = speaker, text = text, attachment = link }
    end
    all({
      attached(1, "other", "a (file:///\27a)\n"),
      said(2, "task", "tests"),
      said(3, "oracle", "beware"),
      attached(4, "oracle", "a picture"),
      { id = 5, kind = "dance", text = "one\ntwo" },
      { id = 6, kind = "dance\27", steps = 3 },
    })
    put({
      id = 7,
      kind = "tool",
      tool = {
        id = "t",
        content = {
          { type = "attachment", text = "a picture", attachment = link },
          { type = "hologram", text = "a ghost" },
          { type = "hologram" },
        },
      },
    })
    append(6, "more")
    local missing = "— something is not shown here, because this plugin does not know it: %s —"
    same(lines(), {
      "## You, elsewhere, attached",
      "a (file:///␛a) ",
      "",
      "## Background task",
      "tests",
      "",
      "## oracle",
      "beware",
      "",
      "## oracle, attached",
      "a picture",
      "",
      "— one two —",
      "",
      missing:format("dance␛") .. "more",
      "",
      "▸ t: pending",
      "  a picture",
      "  a ghost",
      "  " .. missing:format("hologram"),
      "",
    })
  end)
end)

it("the head says what follows from where the agent works, in the program's words if it has any", function()
  conversing(function()
    local place = { workspace = { daemonPath = "/w" }, locality = { "It runs on elm.", "So do\nits \27files." } }
    all({}, { place = place })
    same(vim.api.nvim_buf_get_lines(transcript(), 0, -1, false), {
      "# Tea",
      "It runs on elm.",
      "So do its ␛files.",
      "",
    })
  end)
end)

it("a text is shown and not obeyed", function()
  conversing(function()
    all({ said(1, "agent", "\27[2Jx\226\128\174\r\ny\0z") }, { title = "one\ntwo" })
    same(vim.api.nvim_buf_get_lines(transcript(), 0, 1, false), { "# one two" })
    same(lines(), { "## Agent", "␛[2Jx<U+202E>", "y␀z", "" })
  end)
end)

it("whoever reads is not disturbed, and whoever is at the end stays there", function()
  conversing(function()
    all({ said(1, "me", "hello"), said(2, "agent", "Hi") })
    local last = vim.api.nvim_buf_line_count(transcript())
    same(vim.api.nvim_win_get_cursor(window()), { last, 0 })
    append(2, " there\nfriend")
    put(said(3, "agent", "?"))
    same(vim.api.nvim_win_get_cursor(window()), { last + 4, 0 })
    vim.api.nvim_win_set_cursor(window(), { 5, 2 })
    append(3, "!\n!")
    put(said(4, "agent", "?"))
    same(vim.api.nvim_win_get_cursor(window()), { 5, 2 })
  end)
end)

it("what is appended to a long conversation changes its own line only", function()
  conversing(function()
    local many = {}
    for id = 1, 2000 do
      table.insert(many, said(id, "agent", "line"))
    end
    all(many)
    local before = vim.api.nvim_buf_line_count(transcript())
    local touched = {}
    vim.api.nvim_buf_attach(transcript(), false, {
      on_lines = function(_, _, _, first, last)
        table.insert(touched, { first, last })
      end,
    })
    append(2000, " goes on")
    same(touched, { { before - 2, before - 1 } })
  end)
end)

it("thoughts and what tools show are folded", function()
  conversing(function()
    all({ said(1, "thought", "hm"), said(2, "agent", "  indented") })
    append(1, "\nhm")
    vim.api.nvim_set_current_win(window())
    same(vim.fn.foldclosedend(4), 6)
    same(vim.fn.foldtextresult(4), "▸ Thinking … 2")
    same({ vim.fn.foldclosed(8), vim.fn.foldclosed(9) }, { -1, -1 })
    same(lines(), { "▸ Thinking", "  hm", "  hm", "", "## Agent", "  indented", "" })
  end)
end)

it("what is written is said, and put back if it cannot be", function()
  conversing(function(sent, told, answers)
    vim.api.nvim_buf_set_lines(0, 0, -1, false, { "two", "lines" })
    chat.say_what_is_written()
    same(sent, { { "prompt", { text = "two\nlines", mentions = true } } })
    same(vim.api.nvim_buf_get_lines(0, 0, -1, false), { "" })
    chat.say_what_is_written()
    same(#sent, 1, "nothing is not said")
    answers.prompt = { error = "there is no connection" }
    vim.api.nvim_buf_set_lines(0, 0, -1, false, { "again" })
    chat.say_what_is_written()
    same(vim.api.nvim_buf_get_lines(0, 0, -1, false), { "again" })
    same(told, { "outrigger: there is no connection" })
  end)
end)

it("files and commands are completed", function()
  conversing(function(_, _, answers)
    answers.files = { files = { "src/main.rs" } }
    all({}, { commands = { { "compress", "shortens it" }, { "clear", vim.NIL } } })
    local complete = require("outrigger.chat.prompt").complete
    local function words(line)
      vim.api.nvim_buf_set_lines(0, 0, -1, false, { line .. " " })
      vim.api.nvim_win_set_cursor(0, { 1, #line })
      local start = complete(1, "")
      return start < 0 and {} or vim.tbl_map(function(item)
        return item.word
      end, complete(0, line:sub(start + 1)))
    end
    same(words("look at @ma"), { "@selection", "@src/main.rs" })
    same(words("/com"), { "/compress" })
    same(words("and /com"), {})
  end)
end)

it("trouble is told where the person looks", function()
  conversing(function()
    all({}, { connection = { state = "failed", trouble = "no_daemon", why = "none", hint = "run one" } })
    same(vim.list_slice(lines(), 1, 2), { "! none", "! run one" })
    assert(lines()[3]:find(":Outrigger connect start", 1, true))
    all({}, { queue = { { prompt = "p", text = "later" } } })
    same(lines(), { "… later", "" })
    chat.forget()
    same(lines(), { "! the companion has ended", "! see :Outrigger log", "… later", "" })
  end)
end)

it("a buffer that was thrown away can be opened again", function()
  conversing(function()
    for _, command in ipairs({ "bwipeout!", "bdelete!" }) do
      all({ said(1, "me", "hello") })
      vim.cmd(command .. " " .. transcript())
      vim.wait(20)
      append(1, " late")
      chat.open()
      vim.cmd("stopinsert")
      all({ said(1, "me", "hello") })
      same(lines(), { "## You", "hello", "" })
    end
  end)
end)

local LEAVE = {
  request = "r1",
  title = "Run it?",
  tool = { id = "t", command = "ls" },
  options = {
    { id = "once", title = "Yes", lasts = false },
    { id = "no", title = "No", lasts = false },
    { id = "all", title = "Always", lasts = true },
  },
}
local EDIT = { request = "r2", title = "Edit", tool = { id = "u" }, options = {}, proposal = 3 }

local function ask(requests)
  chat.change({ change = "requests", requests = requests })
end

it("a request is put before the person once, and answered by what they choose", function()
  conversing(function(sent)
    all({})
    local asked = 0
    vim.ui.select = function(items, options, done)
      asked = asked + 1
      same(options.prompt, "Run it?\nls")
      same(vim.tbl_map(options.format_item, items), { "Yes", "No", "Always (and not asked again)" })
      done(asked > 1 and items[1] or nil)
    end
    ask({ LEAVE, EDIT })
    same(vim.list_slice(lines(), 1, 2), { "? Run it? (:Outrigger answer)", "? Edit (:Outrigger show)" })
    vim.wait(2000, function()
      return asked > 0
    end)
    ask({ LEAVE })
    vim.wait(500)
    same(asked, 1, "not choosing is no reason to ask again")
    chat.answer()
    same(sent, { { "answer", { request = "r1", reply = { option = "once" } } } })
  end)
end)

it("what is not reviewed stands in the question", function()
  conversing(function(sent)
    all({})
    vim.ui.select = function(items, options, done)
      same(options.prompt, "Run it?\nls\nEdits go unseen.")
      done(items[2])
    end
    ask({ vim.tbl_extend("force", LEAVE, { unreviewed = "Edits go unseen." }) })
    chat.answer()
    same(sent, { { "answer", { request = "r1", reply = { option = "no" } } } })
  end)
end)

it("what was answered elsewhere is not answered again", function()
  conversing(function(sent, told)
    all({})
    local choose
    vim.ui.select = function(items, _, done)
      choose = function()
        done(items[1])
      end
    end
    ask({ LEAVE })
    chat.answer()
    ask({})
    choose()
    vim.wait(100, function()
      return #told > 0
    end)
    same(sent, {})
    same(told, { "outrigger: it was answered elsewhere" })
  end)
end)

it("questions take one answer, several, and words of the person's own", function()
  conversing(function(sent)
    all({})
    local offered, choices = {}, { 2, 1, 3, 2, 5 }
    vim.ui.select = function(items, _, done)
      table.insert(offered, table.concat(items, "|"))
      local index = table.remove(choices, 1)
      done(items[index], index)
    end
    vim.ui.input = function(_, done)
      done("Water, cold")
    end
    local answers = { { "Tea", "hot" }, { "Milk", vim.NIL } }
    local questions = {
      { question = "Which?", answers = answers, several = false },
      { question = "What else?", answers = answers, several = true },
    }
    ask({ { request = "q", title = "Asks", tool = { id = "t" }, options = {}, questions = questions } })
    chat.answer()
    same(offered, {
      "Tea: hot|Milk|something else…|no answer",
      "[ ] Tea: hot|[ ] Milk|something else…|that is all|no answer",
      "[x] Tea: hot|[ ] Milk|something else…|that is all|no answer",
      "[x] Tea: hot|[ ] Milk|[x] Water, cold|something else…|that is all|no answer",
      "[x] Tea: hot|[x] Milk|[x] Water, cold|something else…|that is all|no answer",
    })
    local reply = { answers = { { "Milk" }, { "Tea", "Water, cold", "Milk" } } }
    same(sent, { { "answer", { request = "q", reply = reply } } })
  end)
end)

it("a model is chosen from those that there are", function()
  conversing(function(sent, told)
    all({}, { models = {} })
    chat.model()
    same(#told, 1)
    all({})
    vim.ui.select = function(items, options, done)
      same(options.format_item(items[1]), "M (now)")
      done(items[2])
    end
    chat.model()
    same(sent, { { "model", { model = "n" } } })
  end)
end)

it("the line above a conversation has what fits, and what the agent may and does in any case", function()
  local function doing(unasking, room)
    return require("outrigger.chat.status").doing({
      connection = { state = "live" },
      model = "m(openai)",
      models = { { id = "m(openai)", name = "Qwen3 Coder" } },
      mode = "auto-edit",
      modes = { { id = "auto-edit", name = "Auto-edit" } },
      unasking = unasking,
      usage = { used = 4, size = 100 },
      busy = true,
    }, room)
  end
  local cases = {
    { 49, "Qwen3 Coder, Auto-edit (may not ask), 4%, working" },
    { 48, "Qwen3 Coder, Auto-edit (may not ask), working" },
    { 44, "Auto-edit (may not ask), working" },
    { 31, "Auto-edit!, working" },
    { 5, "Auto-edit!, working" },
  }
  for _, case in ipairs(cases) do
    same(doing(true, case[1]), case[2], tostring(case[1]))
  end
  same(doing(nil, 35), "Qwen3 Coder, Auto-edit, 4%, working")
  same(doing(nil, 5), "Auto-edit, working")
end)
