--- What was said and done, as lines. Every entry ends with an empty one.

local message = require("outrigger.message")
local text_of = require("outrigger.text")

local M = {}

--- Who speaks, as a heading.
local SPEAKERS = { me = "You", other = "You, elsewhere", agent = "Agent", task = "Background task" }

--- How a turn ended, for people.
local ENDS = {
  complete = "the turn is over",
  cancelled = "the turn was cancelled",
  failed = "the turn failed",
  unknown = "nobody can tell how the turn ended",
}

--- How the heading of a part begins that is folded, and each of its lines. |outrigger-chat-folds|
local FOLDED = "▸ "
local INDENT = "  "

--- The level of a line in 'foldexpr': a heading begins a fold, and indented lines belong to it.
M.FOLDEXPR = ([[getline(v:lnum)=~#'^%s'?'>1':getline(v:lnum)=~#'^%s'?'=':0]]):format(FOLDED, INDENT)

local split = text_of.visible_lines

--- A text in one line, for headings and pickers.
function M.line(text)
  return text_of.one_line((text:gsub("%s*[\r\n]+%s*", " ")))
end

local function add(lines, text, prefix)
  for _, line in ipairs(split(text)) do
    table.insert(lines, (prefix or "") .. line)
  end
end

--- What has no text is of a newer program, and is said to be missing.
local function not_shown(what)
  return ("— something is not shown here, because this plugin does not know it: %s —"):format(M.line(what))
end

local function said(lines, entry)
  if entry.speaker == "thought" then
    table.insert(lines, FOLDED .. "Thinking")
    add(lines, entry.text, INDENT)
  else
    table.insert(lines, "## " .. (SPEAKERS[entry.speaker] or M.line(entry.speaker)))
    add(lines, entry.text)
  end
end

--- What is not text is the line about it.
local function attached(lines, entry)
  local who = SPEAKERS[entry.speaker] or M.line(entry.speaker)
  table.insert(lines, ("## %s, attached"):format(who))
  table.insert(lines, M.line(entry.text))
end

--- What a tool is used on, if its name does not say so: a command, or a file.
local function subject(it, title)
  local file = it.files and it.files[1]
  local on = it.command or (file and vim.fn.fnamemodify(file.daemonPath, ":t"))
  return on and not title:find(on, 1, true) and " " .. message.brief(on) or ""
end

--- What a tool does, how far it is, and what it shows.
local function tool(lines, it)
  local title = M.line(it.title or it.tool or it.id)
  local state = M.line(it.status or "pending"):gsub("_", " ")
  table.insert(lines, ("%s%s%s: %s"):format(FOLDED, title, subject(it, title), state))
  if it.command then
    add(lines, "$ " .. it.command, INDENT)
  end
  for _, shown in ipairs(it.content or {}) do
    if shown.type == "diff" then
      add(lines, "edits " .. M.line(shown.path.daemonPath), INDENT)
    elseif type(shown.text) == "string" then
      add(lines, shown.text, INDENT)
    else
      add(lines, not_shown(shown.type), INDENT)
    end
  end
end

local function plan(lines, steps)
  table.insert(lines, "## Plan")
  for _, step in ipairs(steps) do
    local mark = step.status == "completed" and "x" or " "
    add(lines, ("- [%s] %s"):format(mark, M.line(step.text)))
  end
end

--- The lines of an entry.
function M.lines(entry)
  local lines = {}
  if entry.kind == "said" then
    said(lines, entry)
  elseif entry.kind == "attached" then
    attached(lines, entry)
  elseif entry.kind == "tool" then
    tool(lines, entry.tool)
  elseif entry.kind == "plan" then
    plan(lines, entry.steps)
  elseif entry.kind == "ended" then
    local how = ENDS[entry.how] or entry.how
    add(lines, ("— %s%s —"):format(how, entry.why and ": " .. M.line(entry.why) or ""))
  elseif type(entry.text) == "string" then
    add(lines, ("— %s —"):format(M.line(entry.text)))
  else
    add(lines, not_shown(entry.kind))
  end
  table.insert(lines, "")
  return lines
end

--- The lines that `text` adds to what `speaker` says; the first goes on where the last one ended.
function M.more(speaker, text)
  local lines = split(text)
  if speaker == "thought" then
    for at = 2, #lines do
      lines[at] = INDENT .. lines[at]
    end
  end
  return lines
end

return M
