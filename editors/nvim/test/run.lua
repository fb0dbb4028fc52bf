-- Runs every `*_spec.lua` beside this file. From the folder of the plugin:
--
--   nvim --headless -u NONE -i NONE -n -c 'luafile test/run.lua'

vim.opt.runtimepath:prepend(vim.fn.getcwd())

local passed, failed = 0, {}

--- One test. Its name says what is true.
function _G.it(name, body)
  vim.cmd("silent! %bwipeout!")
  local ok, why = xpcall(body, debug.traceback)
  if ok then
    passed = passed + 1
  else
    table.insert(failed, ("not ok: %s\n%s"):format(name, why))
  end
end

--- Two values are the same, however deep.
function _G.same(is, wanted, what)
  if not vim.deep_equal(is, wanted) then
    error(("%s\nis     %s\nwanted %s"):format(what or "", vim.inspect(is), vim.inspect(wanted)), 2)
  end
end

for _, file in ipairs(vim.fn.sort(vim.fn.glob("test/*_spec.lua", true, true))) do
  dofile(file)
end

local version = vim.version()
io.write(("%s%d passed, %d failed in Neovim %d.%d.%d\n"):format(
  table.concat(failed, "\n") .. (#failed > 0 and "\n" or ""),
  passed,
  #failed,
  version.major,
  version.minor,
  version.patch
))
vim.cmd(#failed == 0 and passed > 0 and "qall!" or "cquit!")
