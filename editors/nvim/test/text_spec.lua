local text = require("outrigger.text")

local TEXTS = {
  "",
  "\n",
  "\n\n",
  "a",
  "a\n",
  "a\nb",
  "a\r\n",
  "a\r\nb",
  "a\r\nb\r\n",
  "\r\n",
  "\r\n\r\n",
  "a\r\nb\n",
  "a\nb\r\n",
  "a\rb",
  "a\r",
  "\239\187\191",
  "\239\187\191a\r\nb",
  "\239\187\191\239\187\191a\n",
  "a\0b\n",
  "🙂\194\133\226\128\168\n",
}

it("a buffer stands for a text byte for byte", function()
  for _, content in ipairs(TEXTS) do
    local buffer = vim.api.nvim_create_buf(false, true)
    text.fill(buffer, content)
    same(text.join(buffer), content, vim.inspect(content))
  end
end)

it("a buffer can be filled again with a text of another kind", function()
  local buffer = vim.api.nvim_create_buf(false, true)
  for _, content in ipairs(TEXTS) do
    text.fill(buffer, "\239\187\191x\r\ny")
    text.fill(buffer, content)
    same(text.join(buffer), content, vim.inspect(content))
  end
end)

it("line endings are not part of the lines, unless they are mixed", function()
  local table_of = {
    { "a\r\nb\r\n", { "a", "b" }, "dos" },
    { "a\nb\n", { "a", "b" }, "unix" },
    { "a\r\nb\n", { "a\r", "b" }, "unix" },
  }
  for _, case in ipairs(table_of) do
    local lines, options = text.split(case[1])
    same({ lines, options.fileformat }, { case[2], case[3] })
  end
end)

it("what Neovim would write is what is joined", function()
  for _, content in ipairs(TEXTS) do
    local path = vim.fn.tempname()
    local buffer = vim.api.nvim_create_buf(true, false)
    text.fill(buffer, content)
    vim.api.nvim_buf_call(buffer, function()
      vim.cmd("silent write! " .. path)
    end)
    local file = assert(io.open(path, "rb"))
    local written = file:read("*a")
    file:close()
    -- Neovim writes an empty buffer as no bytes at all, with or without a byte order mark.
    if content:gsub("^\239\187\191", "") ~= "" then
      same(written, content, vim.inspect(content))
    end
  end
end)

it("a line is found again where it is after a change", function()
  local cases = {
    -- Before, after, the line, where it is then.
    { "a b c", "a b c", 2, 2 },
    { "a b c", "new a b c", 2, 3 },
    { "a b c", "a b new c", 2, 2 },
    { "a b c", "a b new c", 3, 4 },
    { "a b c", "a c", 3, 2 },
    { "a b c", "a c", 2, 1 },
    { "a b c", "x", 3, 1 },
    { "a", "a b c", 1, 1 },
  }
  for _, case in ipairs(cases) do
    local before, after = vim.split(case[1], " "), vim.split(case[2], " ")
    same(text.moved(before, after, case[3]), case[4], vim.inspect(case))
  end
end)

it("the form of a text is no difference", function()
  same(text.is_same("a\nb\n", "\239\187\191a\r\nb\r\n"), true)
  same(text.is_same("a\nb\n", "a\nb"), false)
  same(text.is_same("a\n", "b\n"), false)
end)

it("somebody else's text is seen, and steers nothing", function()
  for given, shown in pairs({
    [""] = "",
    ["a path/with spaces é漢🙂"] = "a path/with spaces é漢🙂",
    ["a\noutrigger: accepted\r\t\0"] = "a␊outrigger: accepted␍␉␀",
    ["\27]0;owned\7\127"] = "␛]0;owned␇<U+007F>",
    ["\194\155\226\128\174\226\128\168\226\128\139"] = "<U+009B><U+202E><U+2028><U+200B>",
    ["👨\226\128\141👩"] = "👨\226\128\141👩",
  }) do
    same(text.one_line(given), shown, vim.inspect(given))
  end
  same(text.visible_lines("\ta\r\nb\27\n"), { "\ta", "b␛", "" })
end)
