/** Finds the long unchanged parts of two documents, which the diff folds. */

import type { Text } from "@codemirror/state";
import type { Pair, Span } from "./span";

/** How many lines stay visible beside a change. */
const MARGIN = 3;

/** Shorter parts, in lines, are not folded. */
const FEWEST = 8;

/**
 * The parts to fold, in whole lines without the end of the last line. `changes` are in
 * order and may overlap; outside of them the documents are equal.
 */
export function unchangedParts(changes: readonly Pair[], a: Text, b: Text): Pair[] {
  const parts: Pair[] = [];
  let start: { a: number; b: number } | undefined;
  for (const change of [...changes, undefined]) {
    const end = change ? { a: change.a.from, b: change.b.from } : { a: a.length, b: b.length };
    const inA = fold(a, start?.a, end.a, change === undefined);
    const inB = fold(b, start?.b, end.b, change === undefined);
    if (inA !== undefined && inB !== undefined) parts.push({ a: inA, b: inB });
    if (change) {
      start = { a: Math.max(start?.a ?? 0, change.a.to), b: Math.max(start?.b ?? 0, change.b.to) };
    }
  }
  return parts;
}

function fold(
  document: Text,
  start: number | undefined,
  end: number,
  last: boolean,
): Span | undefined {
  const first = start === undefined ? 1 : document.lineAt(start).number + MARGIN;
  const final = last ? document.lines : document.lineAt(end).number - 1 - MARGIN;
  if (final - first + 1 < FEWEST) return undefined;
  return { from: document.line(first).from, to: document.line(final).to };
}
