/** Long parts that are the same in both documents, which are folded away. */

import type { Text } from "@codemirror/state";
import type { Pair, Span } from "./span";

/** Lines that stay visible beside a change. */
const MARGIN = 3;

/** Fewer lines are not worth a fold. */
const FEWEST = 8;

/**
 * What to fold, in whole lines without the last line's end. `changes` are in order,
 * may overlap, and outside of them the documents are equal.
 */
export function gapsBetween(changes: readonly Pair[], a: Text, b: Text): Pair[] {
  const gaps: Pair[] = [];
  let start: { a: number; b: number } | undefined;
  for (const change of [...changes, undefined]) {
    const end = change ? { a: change.a.from, b: change.b.from } : { a: a.length, b: b.length };
    const inA = fold(a, start?.a, end.a, change === undefined);
    const inB = fold(b, start?.b, end.b, change === undefined);
    if (inA !== undefined && inB !== undefined) gaps.push({ a: inA, b: inB });
    if (change) {
      start = { a: Math.max(start?.a ?? 0, change.a.to), b: Math.max(start?.b ?? 0, change.b.to) };
    }
  }
  return gaps;
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
