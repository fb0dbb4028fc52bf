/** A change to a file as lines, with a few unchanged ones around. Pure. */

import { changedLines } from "../review/lines";

export interface Line {
  /** Added, removed, unchanged, or lines that are left out. */
  sign: "+" | "-" | " " | "…";
  text: string;
}

/** How many unchanged lines stand around a change. */
const AROUND = 2;

/** What changes; before is undefined for a new file. */
export function linesOfChange(before: string | undefined, after: string): Line[] {
  return before === undefined ? signed(after, "+") : shortened(compared(before, after));
}

function compared(before: string, after: string): Line[] {
  const lines: Line[] = [];
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
function shortened(lines: readonly Line[]): Line[] {
  const near = new Set<number>();
  for (const [index, { sign }] of lines.entries()) {
    if (sign === " ") continue;
    for (let at = index - AROUND; at <= index + AROUND; at += 1) near.add(at);
  }
  const kept: Line[] = [];
  for (const [index, line] of lines.entries()) {
    if (near.has(index)) kept.push(line);
    else if (kept.at(-1)?.sign !== "…") kept.push({ sign: "…", text: "" });
  }
  return kept;
}

function signed(text: string, sign: Line["sign"]): Line[] {
  if (text === "") return [];
  return text
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => ({ sign, text: line }));
}
