local config = require("outrigger.config")
local daemon = require("outrigger.daemon")

local OFF = ", so there are no conversations; see :help outrigger-daemon"
local KNOWN = "; known are enabled, url, token_file, mode, model"

it("what is said about conversations is sent under the program's names, and what is wrong is told", function()
  local home = (vim.uv or vim.loop).os_homedir()
  local all = { enabled = false, url = "http://127.0.0.1:1", token_file = "/t", mode = "plan", model = "m" }
  local sent = { enabled = false, url = "http://127.0.0.1:1", tokenFile = "/t", mode = "plan", model = "m" }
  -- What the person says, what is sent, what the person is told.
  for _, case in ipairs({
    { nil, nil, {} },
    { {}, nil, {} },
    { true, true, {} },
    { false, false, {} },
    { all, sent, {} },
    { { token_file = "~/token" }, { tokenFile = home .. "/token" }, {} },
    { "yes", false, { 'the option "daemon" has to be true, false or a table' .. OFF } },
    { { enabled = "no", url = "u" }, false, { 'the option "daemon.enabled" has to be true or false' .. OFF } },
    { { url = 1, mode = "plan" }, false, { 'the option "daemon.url" has to be a string' .. OFF } },
    { { token_file = true }, false, { 'the option "daemon.token_file" has to be a string' .. OFF } },
    { { mode = {} }, false, { 'the option "daemon.mode" has to be a string' .. OFF } },
    { { model = 1 }, false, { 'the option "daemon.model" has to be a string' .. OFF } },
    { { tokenFile = "/t" }, nil, { 'there is no option "daemon.tokenFile"' .. KNOWN } },
    { { url = "u", "x" }, { url = "u" }, { 'there is no option "daemon.1"' .. KNOWN } },
  }) do
    local is, complaints = daemon.read(case[1], "daemon")
    same({ is, complaints }, { case[2], case[3] }, vim.inspect(case[1]))
  end
end)

it("a token is neither sent nor repeated", function()
  local sent, complaints = daemon.read({ enabled = true, token = "hunter2" }, "g:outrigger_daemon")
  same(sent, false)
  same(#complaints, 1)
  same(complaints[1]:find("hunter2"), nil)
  assert(complaints[1]:find('"g:outrigger_daemon.token_file"', 1, true), complaints[1])
end)

it("a mistake about conversations leaves the other options as they are", function()
  local heard, notify = {}, vim.notify
  vim.notify = function(text)
    table.insert(heard, text)
  end
  config.set({ agents = { "qwen" }, daemon = { url = 1 } })
  local options = config.get()
  config.get()
  vim.g.outrigger_daemon = { url = "u", urll = "v" }
  config.set({})
  local from_variable = config.get().daemon
  vim.g.outrigger_daemon = nil
  vim.notify = notify
  same({ options.agents, options.daemon }, { { "qwen" }, false })
  same(from_variable, { url = "u" })
  same(#heard, 2, vim.inspect(heard))
  assert(heard[1]:find('"daemon.url"', 1, true) and heard[2]:find('"g:outrigger_daemon.urll"', 1, true))
end)
