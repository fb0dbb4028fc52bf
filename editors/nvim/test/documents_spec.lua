local config = require("outrigger.config")
local documents = require("outrigger.documents")
local workspace = require("outrigger.workspace")

local function folder()
  local path = vim.fn.resolve(vim.fn.tempname())
  vim.fn.mkdir(path, "p")
  return path
end

local function open(name)
  vim.cmd("silent! edit " .. vim.fn.fnameescape(name))
  return vim.api.nvim_get_current_buf()
end

it("a file is a document, with or without a file on disk", function()
  local path = folder() .. "/new.txt"
  same(documents.is_document(open(path)), true)
  vim.cmd("silent write")
  same(documents.is_document(0), true)
  same(documents.path(vim.api.nvim_get_current_buf()), path)
end)

it("what is no file of this machine is no document", function()
  same(documents.is_document(vim.api.nvim_get_current_buf()), false, "a buffer without a name")
  for _, name in ipairs({ "oil:///tmp/", "fugitive:///tmp/x//0/a", "https://example.org/a", "scp://host/a" }) do
    local buffer = vim.api.nvim_create_buf(true, false)
    vim.api.nvim_buf_set_name(buffer, name)
    same(documents.is_document(buffer), false, name)
  end
  local scratch = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(scratch, "/tmp/scratch")
  same(documents.is_document(scratch), false, "a scratch buffer")
  same(documents.path(open(folder())), nil, "a folder")
  vim.cmd("silent terminal true")
  same(documents.is_document(vim.api.nvim_get_current_buf()), false, "a terminal")
end)

it("huge and binary files are no documents", function()
  local path = folder() .. "/file"
  local function is_document(content)
    vim.cmd("silent! %bwipeout!")
    local file = assert(io.open(path, "wb"))
    file:write(content)
    file:close()
    return documents.is_document(open(path))
  end
  same(is_document("text\n"), true)
  same(is_document("\127ELF\0\1\n"), false)
  config.set({ max_bytes = 1000 })
  same(is_document(("x"):rep(999) .. "\n"), true)
  same(is_document(("x"):rep(1000) .. "\n"), false)
  config.set({})
end)

it("a document is found under any of its names", function()
  local there = folder()
  vim.fn.mkdir(there .. "/real")
  vim.loop.fs_symlink(there .. "/real", there .. "/link")
  local buffer = open(there .. "/real/a.txt")
  vim.cmd("silent write")
  same(documents.at(there .. "/link/a.txt"), buffer)
  same(documents.at(there .. "/real/b.txt"), nil)
end)

it("a workspace is the nearest folder with a marker, and never the home folder", function()
  local there = folder()
  vim.fn.mkdir(there .. "/project/deep/er", "p")
  same(workspace.root(there .. "/project/deep/er"), nil)
  vim.fn.mkdir(there .. "/project/.git")
  same(workspace.root(there .. "/project/deep/er"), there .. "/project")
  same(workspace.root(there .. "/project"), there .. "/project")
  -- A worktree has a file instead of a folder.
  vim.fn.writefile({ "gitdir: elsewhere" }, there .. "/project/deep/.git")
  same(workspace.root(there .. "/project/deep/er"), there .. "/project/deep")
  local home = vim.env.HOME
  vim.env.HOME = there .. "/project/deep"
  same(workspace.root(there .. "/project/deep/er"), nil)
  vim.env.HOME = home
end)

it("the folders are those that the person names, else those of the project", function()
  local there = folder()
  vim.fn.mkdir(there .. "/.hg")
  vim.cmd("cd " .. there)
  same(workspace.folders(), { there })
  config.set({ roots = { "/a", "/b" } })
  same(workspace.folders(), { "/a", "/b" })
  config.set({
    roots = function()
      return {}
    end,
  })
  same(workspace.folders(), nil)
  config.set({})
  vim.cmd("cd -")
end)
