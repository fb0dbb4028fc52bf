/** Brings what the person typed into a text that was made new meanwhile. Pure. */

import { changedLines } from "./line-diff";
import type { Pair } from "./span";

/**
 * `theirs` with the changes that lead from `base` to `mine`; undefined if both changed the
 * same lines, or lines beside each other.
 */
export function rebased(base: string, mine: string, theirs: string): string | undefined {
  const typed = changedLines(base, mine);
  const newer = changedLines(base, theirs);
  if (typed.some((one) => newer.some((other) => touch(one, other)))) return undefined;
  let text = "";
  let done = 0;
  for (const { a, b } of typed) {
    text += theirs.slice(done, placeIn(newer, a.from)) + mine.slice(b.from, b.to);
    done = placeIn(newer, a.to);
  }
  return text + theirs.slice(done);
}

function touch(one: Pair, other: Pair): boolean {
  return one.a.from <= other.a.to && other.a.from <= one.a.to;
}

/** Where a place of the base, outside of all changes, is in the newer text. */
function placeIn(newer: readonly Pair[], at: number): number {
  const before = newer.findLast(({ a }) => a.to <= at);
  return before === undefined ? at : at + before.b.to - before.a.to;
}
