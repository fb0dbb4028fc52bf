--- `:checkhealth outrigger`: says what is wrong, and what to do about it.

local companion = require("outrigger.companion")
local config = require("outrigger.config")
local status = require("outrigger.status")
local workspace = require("outrigger.workspace")

local M = {}

-- Neovim 0.8 moved the reports, and 0.10 gave them shorter names.
local health = vim.health or require("health")
local start = health.start or health.report_start
local ok = health.ok or health.report_ok
local info = health.info or health.report_info
local warn = health.warn or health.report_warn
local error = health.error or health.report_error

local function check_program()
  local program = config.get().cmd[1]
  if vim.fn.executable(program) == 0 then
    error(("there is no program %q"):format(program), {
      "install it with `cargo install --path crates/outrigger` in a clone of the repository",
      "or say where it is: require('outrigger').setup({ cmd = { '/path/to/outrigger', 'lsp' } })",
    })
    return
  end
  local version = vim.fn.systemlist({ program, "--version" })
  if vim.v.shell_error == 0 then
    ok(("%s is %s"):format(vim.fn.exepath(program), version[1]))
  else
    error(("%s does not run"):format(vim.fn.exepath(program)), version)
  end
end

local function check_workspace()
  local folders = workspace.folders()
  if folders then
    ok("the workspace is " .. table.concat(folders, ", "))
  else
    warn(vim.fn.getcwd() .. " is not in a project, so nothing starts by itself here", {
      "start it by hand: :Outrigger start",
      "or name the folders: see :help outrigger-roots",
    })
  end
end

--- Where a mistake is, as compilers say it.
local function place(fault)
  return fault.line and ("%s:%d:%d"):format(fault.source, fault.line, fault.column) or fault.source
end

local function check_companion()
  local facts, now = companion.facts(), status.get()
  if not now then
    local advice = { "start it: :Outrigger start", "see what happened: :Outrigger log" }
    local state = status.state()
    return warn(("the companion is %s%s"):format(state, state == "failed" and " (given up)" or ""), advice)
  end
  ok(("the companion listens on port %s for %s"):format(facts.port, table.concat(facts.folders, ", ")))
  info(now.summary)
  if #now.agents == 0 then
    info("no agent is connected; start one in " .. facts.folders[1] .. ": outrigger run -- qwen (or gemini)")
  end
  for _, agent in ipairs(now.agents) do
    if agent.note then
      warn(agent.label .. ": " .. agent.note)
    end
  end
  for _, fault in ipairs(now.faults or {}) do
    error("agents see nothing of " .. (fault.folder or "any folder") .. ": " .. place(fault) .. ": " .. fault.message, {
      "correct it; the companion reads it again at once",
    })
  end
  if now.paused then
    warn("paused: agents see nothing open", { "show it again: :Outrigger resume" })
  end
end

function M.check()
  start("outrigger: program")
  check_program()
  start("outrigger: workspace")
  check_workspace()
  start("outrigger: companion")
  check_companion()
end

return M
