local connection = require("outrigger.connection")
local selection = require("outrigger.selection")

local LINES = { "one", "two 🙂 words", "\ttab", "", "last" }

--- What is selected after these keys, as `line:character-line:character` from the anchor to the
--- cursor.
local function select(keys, encoding)
  vim.cmd("silent! %bwipeout!")
  vim.api.nvim_buf_set_lines(0, 0, -1, false, LINES)
  connection.use({ id = 1, offset_encoding = encoding })
  local got
  _G.look = function()
    got = selection.now()
    return ""
  end
  local typed = vim.api.nvim_replace_termcodes(keys .. "<Cmd>lua look()<CR>", true, false, true)
  vim.api.nvim_feedkeys(typed, "xt", false)
  local words = vim.tbl_map(function(it)
    return ("%d:%d-%d:%d"):format(it.anchor.line, it.anchor.character, it.active.line, it.active.character)
  end, got)
  connection.use(nil)
  return table.concat(words, " ")
end

it("selections are told as they are", function()
  local cases = {
    -- Keys, in UTF-16, in UTF-8.
    { "gg", "0:0-0:0" },
    { "ggl", "0:1-0:1" },
    { "ggv", "0:0-0:1" },
    { "ggve", "0:0-0:3" },
    { "gg$vb", "0:3-0:0" },
    { "ggv$", "0:0-1:0" },
    { "2Gfov", "1:2-1:3" },
    { "2Gwv", "1:4-1:6", "1:4-1:8" },
    { "2Gwve", "1:4-1:12", "1:4-1:14" },
    { "2GV", "1:0-1:12", "1:0-1:14" },
    { "2GVk", "1:12-0:0", "1:14-0:0" },
    { "ggVG", "0:0-4:4" },
    { "4Gv", "3:0-4:0" },
    { "Gv$", "4:0-4:4" },
    { "gg<C-v>jl", "1:0-1:2 0:0-0:2" },
    { "2Gl<C-v>kl", "0:1-0:3 1:1-1:3" },
    { "gg<C-v>j$", "1:0-1:12 0:0-0:3", "1:0-1:14 0:0-0:3" },
    { "2G0<C-v>j", "2:0-2:1 1:0-1:8", "2:0-2:1 1:0-1:10" },
    { "2G0<C-v>jl", "2:0-2:2 1:0-1:9", "2:0-2:2 1:0-1:11" },
  }
  for _, case in ipairs(cases) do
    local keys, utf16, utf8 = case[1], case[2], case[3] or case[2]
    same(select(keys, "utf-16"), utf16, keys .. " in UTF-16")
    same(select(keys, "utf-8"), utf8, keys .. " in UTF-8")
  end
end)

it("with an exclusive selection the last character is not part of it", function()
  vim.o.selection = "exclusive"
  same(select("ggvl", "utf-8"), "0:0-0:1")
  same(select("ggv$", "utf-8"), "0:0-0:3")
  vim.o.selection = "inclusive"
end)

it("every mode that selects has its kind", function()
  local kinds = {}
  for _, mode in ipairs({ "n", "i", "v", "V", "\22", "s", "S", "\19", "c", "t", "no", "niV" }) do
    table.insert(kinds, selection.kind(mode) or "")
  end
  same(kinds, { "", "", "v", "V", "\22", "v", "V", "\22", "", "", "", "" })
end)
