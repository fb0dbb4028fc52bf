local config = require("outrigger.config")
local interrupt = require("outrigger.interrupt")

-- The same table is in the tests of every plugin.
it("one reason is enough not to interrupt, and somebody who types is not interrupted", function()
  local cases = {
    -- What is the case, for how many milliseconds no key was pressed, the reason.
    { {}, 601, nil },
    { {}, 600, "pause" },
    { {}, 0, "pause" },
    { { "insert" }, 5000, "insert" },
    { { "selection" }, 5000, "selection" },
    { { "operator" }, 5000, "operator" },
    { { "prompt" }, 5000, "prompt" },
    { { "terminal" }, 5000, "terminal" },
    { { "popup" }, 5000, "popup" },
    { { "macro" }, 5000, "macro" },
    { { "review" }, 5000, "review" },
    { { "popup", "insert" }, 0, "insert" },
  }
  for _, case in ipairs(cases) do
    local facts = { idle = case[2] }
    for _, name in ipairs(case[1]) do
      facts[name] = true
    end
    same(interrupt.reason(facts), case[3], vim.inspect(case))
  end
end)

--- What holds after these keys, but for the pause.
local function facts_after(keys)
  local facts
  _G.look = function()
    facts = interrupt.facts()
    return ""
  end
  local typed = vim.api.nvim_replace_termcodes(keys .. "<Cmd>lua look()<CR><Esc>", true, false, true)
  vim.api.nvim_feedkeys(typed, "xt", false)
  local holds = {}
  for _, reason in ipairs(interrupt.REASONS) do
    if facts[reason] then
      table.insert(holds, reason)
    end
  end
  return table.concat(holds, " ")
end

it("what the person is in the middle of is seen", function()
  vim.api.nvim_buf_set_lines(0, 0, -1, false, { "one", "two" })
  local cases = {
    { "gg", "" },
    { "i", "insert" },
    { "R", "insert" },
    { "i<C-o>", "insert" },
    { "v", "selection" },
    { "V", "selection" },
    { "<C-v>", "selection" },
    { "gh", "selection" },
    { "d", "operator" },
    { ":ec", "prompt" },
    { "/on", "prompt" },
    { "qq", "macro" },
  }
  for _, case in ipairs(cases) do
    same(facts_after(case[1]), case[2], case[1])
    vim.cmd("stopinsert")
    if vim.fn.reg_recording() ~= "" then
      vim.cmd("normal! q")
    end
  end
end)

it("terminals, pickers and diffs are seen", function()
  local function holds(reason)
    return interrupt.facts()[reason]
  end
  same({ holds("terminal"), holds("popup"), holds("review"), holds("prompt") }, { false, false, false, false })
  vim.cmd("silent terminal true")
  same(holds("terminal"), true)
  vim.cmd("silent! %bwipeout!")
  local buffer = vim.api.nvim_create_buf(false, true)
  local place = { relative = "editor", row = 1, col = 1, width = 5, height = 1 }
  local window = vim.api.nvim_open_win(buffer, true, place)
  same(holds("popup"), true)
  vim.bo[buffer].buftype = "prompt"
  same(holds("prompt"), true)
  vim.api.nvim_win_close(window, true)
  vim.cmd("silent file outrigger://7/proposed/a.txt")
  same(holds("review"), true)
  vim.cmd("silent file outrigger://chat")
  same(holds("review"), false)
end)

it("a key begins the pause anew", function()
  -- No key was ever seen, so this is the age of the machine.
  local before = interrupt.facts().idle
  interrupt.listen()
  vim.api.nvim_feedkeys("j", "xt", false)
  same(interrupt.facts().idle < before / 2, true)
end)

it("the option goes before the rule", function()
  config.set({ focus = "always" })
  same(interrupt.is_allowed(), true)
  config.set({ focus = "never" })
  same(interrupt.is_allowed(), false)
  config.set({})
  vim.cmd("silent terminal true")
  same(interrupt.is_allowed(), false, "in a terminal")
end)
