/** What a tool does or would do: its command, its files, what it shows. */

import { useMemo } from "preact/hooks";
import { count } from "../text/format";
import { legible, visible } from "../text/visible";
import { linesOfChange } from "./changes";
import { Folded } from "./folded";
import type { DaemonPath, Shown, Tool } from "./wire";

type DiffShown = Extract<Shown, { type: "diff" }>;

/** What is longer is folded. */
const SHORT_LINES = 12;
const SHORT_TEXT = 1_200;

/** Larger changes are not compared here. */
const MOST_COMPARED = 200_000;

const STATES: Record<string, string> = {
  pending: "waiting",
  in_progress: "running",
  completed: "done",
  failed: "failed",
};

export function ToolView({ tool }: { tool: Tool }) {
  const state = tool.status ?? "pending";
  return (
    <>
      <p class="tool-head">
        <span class="tool-state" data-state={state}>
          {STATES[state] ?? visible(state)}
        </span>
        <strong class="tool-title">{visible(titleOf(tool))}</strong>
        {tool.kind !== undefined && <span class="badge">{visible(tool.kind)}</span>}
      </p>
      <ToolBody tool={tool} />
    </>
  );
}

/** All that is known of a call but its name. */
export function ToolBody({ tool, open }: { tool: Tool; open?: boolean }) {
  return (
    <>
      {tool.command !== undefined && (
        <pre class="output">
          <code>{legible(tool.command)}</code>
        </pre>
      )}
      {!hasDiff(tool) && <Files files={tool.files ?? []} />}
      {tool.content?.map((shown, index) => (
        <Content key={index} shown={shown} open={open} />
      ))}
    </>
  );
}

/** A change names its file itself. */
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

/** A path, and whose it is. */
function Path({ path: { daemonPath, line } }: { path: DaemonPath }) {
  return (
    <span class="daemon-path" title="A path where the daemon runs">
      <bdi class="mono">{visible(daemonPath)}</bdi>
      {line !== undefined && `, line ${line}`} <span class="quiet">(daemon’s)</span>
    </span>
  );
}

function Content({ shown, open }: { shown: Shown; open: boolean | undefined }) {
  return shown.type === "diff" ? (
    <Diff diff={shown} open={open} />
  ) : (
    <Output text={shown.text} open={open} />
  );
}

function Output({ text, open }: { text: string; open: boolean | undefined }) {
  const lines = text.split("\n").length;
  if (text.trim() === "") return null;
  const output = <pre class="output">{legible(text)}</pre>;
  if (lines <= SHORT_LINES && text.length <= SHORT_TEXT) return output;
  return (
    <Folded summary={`Output, ${count(lines, "line")}`} open={open ?? false}>
      {output}
    </Folded>
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
    <Folded summary={summary} open={open ?? newText.length <= SHORT_TEXT}>
      <Changes diff={diff} />
    </Folded>
  );
}

function Changes({ diff: { oldText, newText } }: { diff: DiffShown }) {
  const small = (oldText?.length ?? 0) + newText.length <= MOST_COMPARED;
  const lines = useMemo(
    () => (small ? linesOfChange(oldText, newText) : []),
    [small, oldText, newText],
  );
  if (!small) return <p class="quiet">This change is too large to be shown here.</p>;
  return (
    <pre class="output changes">
      {lines.map(({ sign, text }, index) => (
        <span key={index} class="change" data-sign={sign}>
          {sign}
          {legible(text)}
          {"\n"}
        </span>
      ))}
    </pre>
  );
}
