local chat = require("outrigger.chat")

local function status(state)
  return {
    connection = { state = state },
    title = "Tea",
    place = { machine = "elm", workspace = { daemonPath = "/w" } },
    busy = false,
    model = "m",
    mode = "plan",
  }
end

local function said(id, speaker, text)
  return { id = id, kind = "said", speaker = speaker, text = text }
end

it("a conversation is shown as it is put together", function()
  local entries = { said(1, "me", "hello"), said(2, "agent", "Hi ") }
  chat.all({ status = status("live"), requests = {}, entries = entries })
  chat.change({ change = "append", id = 2, text = "there" })
  chat.change({
    change = "put",
    entry = { id = 3, kind = "tool", tool = { id = "t", title = "Shell", status = "pending", command = "ls" } },
  })
  chat.change({
    change = "put",
    entry = {
      id = 3,
      kind = "tool",
      tool = { id = "t", title = "Shell", status = "completed", content = { { type = "text", text = "a\nb" } } },
    },
  })
  chat.change({ change = "put", entry = { id = 4, kind = "ended", how = "cancelled" } })
  same(chat.lines(), {
    "# Tea (connected; runs in /w on elm)",
    "model m, mode plan",
    "",
    "## You",
    "hello",
    "",
    "## Agent",
    "Hi there",
    "",
    "[completed] Shell",
    "    a",
    "    b",
    "",
    "— the turn is cancelled —",
    "",
  })
  chat.change({ change = "shorten", first = 4 })
  same(#chat.lines(), 5)
  chat.change({ change = "clear" })
  same(#chat.lines(), 3)
  chat.forget()
  same(chat.lines(), {})
end)

it("a request is put before the person once, and answered by what they choose", function()
  local sent, asked = {}, 0
  local link, select, notify = require("outrigger.link"), vim.ui.select, vim.notify
  local request = link.request
  link.request = function(method, params)
    table.insert(sent, { method, params })
  end
  vim.notify = function() end
  vim.ui.select = function(items, options, done)
    asked = asked + 1
    same(options.prompt, "Run it?\nls")
    same(options.format_item(items[1]), "Yes")
    done(items[1])
  end
  local one = {
    request = "r1",
    title = "Run it?",
    tool = { id = "t", command = "ls" },
    options = { { id = "once", title = "Yes" } },
  }
  local edit = { request = "r2", title = "Edit", tool = { id = "u" }, options = {}, proposal = 3 }
  chat.change({ change = "requests", requests = { one, edit } })
  chat.change({ change = "requests", requests = { one } })
  if asked == 0 then
    -- The person was typing; then it waits until they ask for it.
    chat.answer()
  end
  link.request, vim.ui.select, vim.notify = request, select, notify
  same(asked, 1)
  same(sent, { { "outrigger/daemon/answer", { request = "r1", reply = { option = "once" } } } })
  chat.forget()
end)
