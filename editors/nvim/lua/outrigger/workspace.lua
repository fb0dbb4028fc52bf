--- Which folders agents have to be in to find this Neovim.

local config = require("outrigger.config")
local documents = require("outrigger.documents")

local uv = vim.uv or vim.loop

local M = {}

--- The nearest folder at or above `folder` that has a marker of a project. A home folder never
--- counts: with a marker in it, every folder of the person would.
function M.root(folder)
  local home = vim.fn.resolve(uv.os_homedir() or "/")
  folder = vim.fn.resolve(folder)
  while true do
    local parent = vim.fn.fnamemodify(folder, ":h")
    if folder == home or parent == folder then
      return nil
    end
    for _, marker in ipairs(config.get().markers) do
      local path = folder .. "/" .. marker
      if vim.fn.isdirectory(path) == 1 or vim.fn.filereadable(path) == 1 then
        return folder
      end
    end
    folder = parent
  end
end

--- The folders of this Neovim: those that the person has named, else the project of the current
--- folder, else the project of `buffer`. Nil outside of any project.
function M.folders(buffer)
  local roots = config.get().roots
  if type(roots) == "function" then
    roots = roots()
  end
  if roots then
    return #roots > 0 and vim.tbl_map(vim.fn.expand, roots) or nil
  end
  -- The files of a version control system are edited on its behalf: commit messages, for example.
  local first = vim.fn.fnamemodify(vim.fn.argv(0), ":p")
  if vim.fn.argc() == 1 and first:match("/%.git/") then
    return nil
  end
  local root = M.root(vim.fn.getcwd())
  local path = buffer and documents.path(buffer)
  if not root and path then
    root = M.root(vim.fn.fnamemodify(path, ":h"))
  end
  return root and { root } or nil
end

return M
