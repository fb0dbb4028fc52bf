/** A change to a file as lines, with a few unchanged lines of context. Pure. */

import { changedLines } from "../review/line-diff";

export interface DiffLine {
  /** Added, removed, unchanged, or lines that are left out. */
  sign: "+" | "-" | " " | "…";
  text: string;
}

/** How many unchanged lines are shown before and after a change. */
const CONTEXT = 2;

/** The lines of a change; `before` is undefined for a new file. */
export function diffLines(before: string | undefined, after: string): DiffLine[] {
  return before === undefined ? signed(after, "+") : shortened(compared(before, after));
}

function compared(before: string, after: string): DiffLine[] {
  const lines: DiffLine[] = [];
  let done = 0;
  for (const { a, b } of changedLines(before, after)) {
    lines.push(...signed(before.slice(done, a.from), " "));
    lines.push(...signed(before.slice(a.from, a.to), "-"));
    lines.push(...signed(after.slice(b.from, b.to), "+"));
    done = a.to;
  }
  return [...lines, ...signed(before.slice(done), " ")];
}

/** Leaves out what is far from any change. */
function shortened(lines: readonly DiffLine[]): DiffLine[] {
  const near = new Set<number>();
  for (const [index, { sign }] of lines.entries()) {
    if (sign === " ") continue;
    for (let at = index - CONTEXT; at <= index + CONTEXT; at += 1) near.add(at);
  }
  const kept: DiffLine[] = [];
  for (const [index, line] of lines.entries()) {
    if (near.has(index)) kept.push(line);
    else if (kept.at(-1)?.sign !== "…") kept.push({ sign: "…", text: "" });
  }
  return kept;
}

function signed(text: string, sign: DiffLine["sign"]): DiffLine[] {
  if (text === "") return [];
  return text
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => ({ sign, text: line }));
}
