/** A tool call: its command, its files, and its output or change. */

import { useMemo } from "preact/hooks";
import { count } from "../text/format";
import { visible, visibleLines } from "../text/visible";
import { AttachmentView } from "./attachment-view";
import { LazyDetails } from "./lazy-details";
import { titleBeside, withoutRepetition } from "./permission";
import { diffLines } from "./tool-diff";
import { textOfUnknown } from "./unknown";
import type { DaemonPath, Tool, ToolContent } from "./wire";

type DiffShown = Extract<ToolContent, { type: "diff" }>;

/** Longer output is closed at first. */
const SHORT_LINES = 12;
const SHORT_TEXT = 1_200;

/** Larger changes, in characters, are not compared in the page. */
const MOST_COMPARED = 200_000;

const STATES: Record<string, string> = {
  pending: "pending",
  in_progress: "running",
  completed: "done",
  failed: "failed",
  rejected: "rejected",
};

const KINDS: Record<string, string> = {
  execute: "command",
  edit: "edit",
  delete: "deletion",
  move: "move",
  read: "reading",
  search: "search",
  fetch: "network",
  think: "thought",
  switch_mode: "mode",
};

/** `waiting`: the card below asks about this call, and shows it. */
export function ToolCallView({ tool, waiting }: { tool: Tool; waiting: boolean }) {
  const state = waiting ? "waiting" : (tool.status ?? "pending");
  const kind = KINDS[tool.kind ?? ""];
  const title = titleBeside(titleOf(tool), tool.command);
  return (
    <>
      <p class="tool-head">
        <span class="tool-state" data-state={state}>
          {waiting ? "waits for your answer" : (STATES[state] ?? visible(state))}
        </span>
        {title !== undefined && <strong class="tool-title">{visible(title)}</strong>}
        {kind !== undefined && <span class="badge">{kind}</span>}
      </p>
      {!waiting && <ToolBody tool={withoutRepetition(tool)} />}
    </>
  );
}

/** Everything about a call except its title and status. */
export function ToolBody({ tool, open }: { tool: Tool; open?: boolean }) {
  return (
    <>
      {tool.command !== undefined && (
        <pre class="output">
          <code>{visibleLines(tool.command)}</code>
        </pre>
      )}
      {!hasDiff(tool) && <Files files={tool.files ?? []} />}
      {tool.content?.map((shown, index) => (
        <Content key={index} shown={shown} open={open} />
      ))}
    </>
  );
}

/** Whether the content has a diff, which shows the path of its file. */
function hasDiff({ content = [] }: Tool): boolean {
  return content.some(({ type }) => type === "diff");
}

function titleOf({ title, tool, id }: Tool): string {
  return title ?? tool ?? id;
}

function Files({ files }: { files: readonly DaemonPath[] }) {
  if (files.length === 0) return null;
  return (
    <ul class="daemon-files" aria-label="Files of the daemon">
      {files.map((file, index) => (
        <li key={index}>
          <Path path={file} />
        </li>
      ))}
    </ul>
  );
}

/** A path, marked as one of the daemon. */
function Path({ path: { daemonPath, line } }: { path: DaemonPath }) {
  return (
    <span class="daemon-path" title="A path on the machine of the daemon">
      <bdi class="mono">{visible(daemonPath)}</bdi>
      {line !== undefined && `, line ${line}`} <span class="quiet">(daemon’s)</span>
    </span>
  );
}

function Content({ shown, open }: { shown: ToolContent; open: boolean | undefined }) {
  switch (shown.type) {
    case "diff":
      return <Diff diff={shown} open={open} />;
    case "attachment":
      return <AttachmentView attached={shown} />;
    case "text":
      return <Output text={shown.text} open={open} />;
    default:
      return <Unknown shown={shown} />;
  }
}

function Unknown({ shown }: { shown: { type: string } }) {
  return <p class="quiet">{textOfUnknown(shown.type, shown)}</p>;
}

function Output({ text, open }: { text: string; open: boolean | undefined }) {
  const lines = text.split("\n").length;
  if (text.trim() === "") return null;
  const output = <pre class="output">{visibleLines(text)}</pre>;
  if (lines <= SHORT_LINES && text.length <= SHORT_TEXT) return output;
  return (
    <LazyDetails summary={`Output, ${count(lines, "line")}`} open={open ?? false}>
      {output}
    </LazyDetails>
  );
}

function Diff({ diff, open }: { diff: DiffShown; open: boolean | undefined }) {
  const { path, oldText, newText } = diff;
  const summary = (
    <>
      {oldText === undefined ? "New file " : "Change to "}
      <Path path={path} />
    </>
  );
  return (
    <LazyDetails summary={summary} open={open ?? newText.length <= SHORT_TEXT}>
      <Changes diff={diff} />
    </LazyDetails>
  );
}

function Changes({ diff: { oldText, newText } }: { diff: DiffShown }) {
  const small = (oldText?.length ?? 0) + newText.length <= MOST_COMPARED;
  const lines = useMemo(
    () => (small ? diffLines(oldText, newText) : []),
    [small, oldText, newText],
  );
  if (!small) return <p class="quiet">This change is too large to be shown here.</p>;
  return (
    <pre class="output changes">
      {lines.map(({ sign, text }, index) => (
        <span key={index} class="change" data-sign={sign}>
          {sign}
          {visibleLines(text)}
          {"\n"}
        </span>
      ))}
    </pre>
  );
}
