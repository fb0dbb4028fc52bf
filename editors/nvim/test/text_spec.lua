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
