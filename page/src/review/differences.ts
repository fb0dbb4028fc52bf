/**
 * Where the result differs from the original, while the person types.
 *
 * A difference is a pair of ranges of whole lines. Outside of the differences both
 * documents are equal, character by character. They start as the companion's hunks. An
 * edit moves them and compares only the lines that it touched, until the companion's
 * hunks for the new text arrive.
 */

import type { ChangeDesc, Text } from "@codemirror/state";
import type { WireHunk } from "../api/wire";
import { changedLines } from "./line-diff";
import { lineStart, nextLineStart, type Pair, type Span, slice, spanOfLines } from "./span";

/** The companion's hunks as differences. */
export function differencesOf(hunks: readonly WireHunk[], a: Text, b: Text): Pair[] {
  return hunks.map(({ originalStart, originalEnd, proposedStart, proposedEnd }) => ({
    a: spanOfLines(a, originalStart, originalEnd),
    b: spanOfLines(b, proposedStart, proposedEnd),
  }));
}

export function sameDifferences(one: readonly Pair[], other: readonly Pair[]): boolean {
  return (
    one.length === other.length &&
    one.every((difference, index) => {
      const twin = other[index] as Pair;
      return sameSpan(difference.a, twin.a) && sameSpan(difference.b, twin.b);
    })
  );
}

/** The differences after `changes` were made to the result, which is `b` now. */
export function movedDifferences(
  differences: readonly Pair[],
  a: Text,
  b: Text,
  changes: ChangeDesc,
): Pair[] {
  const moved: Pair[] = [];
  for (const step of sweep(differences, edits(b, changes))) {
    if ("kept" in step) {
      moved.push(step.kept);
      continue;
    }
    const { cover } = step;
    for (const pair of changedLines(slice(a, cover.a), slice(b, cover.b))) {
      moved.push({ a: shifted(pair.a, cover.a.from), b: shifted(pair.b, cover.b.from) });
    }
  }
  return moved;
}

/** Whole lines that were replaced: where they were, and where they are now. */
interface Edit {
  old: Span;
  now: Span;
}

function edits(b: Text, changes: ChangeDesc): Edit[] {
  const all: Edit[] = [];
  changes.iterChangedRanges((fromOld, toOld, fromNow, toNow) => {
    const now = { from: lineStart(b, fromNow), to: nextLineStart(b, toNow) };
    const old = { from: fromOld - (fromNow - now.from), to: toOld + (now.to - toNow) };
    const last = all.at(-1);
    if (last !== undefined && now.from <= last.now.to) {
      last.now.to = now.to;
      last.old.to = old.to;
    } else {
      all.push({ old, now });
    }
  });
  return all;
}

/**
 * Goes through differences and edits in order. A difference that no edit touches is kept,
 * at its new position. Edits and differences that touch each other are joined into one
 * range, the cover, which has to be compared again.
 */
function* sweep(
  differences: readonly Pair[],
  edits: readonly Edit[],
): Generator<{ kept: Pair } | { cover: Pair }> {
  let nextDifference = 0;
  let nextEdit = 0;
  // From the old result to the new one, after the last edit.
  let shift = 0;
  // From the old result to the original, after the last difference.
  let offset = 0;
  const keepUntil = function* (at: number) {
    for (
      let difference = differences[nextDifference];
      difference && difference.b.to < at;
      difference = differences[nextDifference]
    ) {
      yield {
        kept: shift === 0 ? difference : { a: difference.a, b: shifted(difference.b, shift) },
      };
      offset = difference.a.to - difference.b.to;
      nextDifference += 1;
    }
  };

  for (let edit = edits[nextEdit]; edit; edit = edits[nextEdit]) {
    yield* keepUntil(edit.old.from);
    const first = differences[nextDifference];
    const fromDifference = first !== undefined && first.b.from <= edit.old.from;
    const start = fromDifference ? first.b.from : edit.old.from;
    const startA = fromDifference ? first.a.from : start + offset;
    const startB = start + shift;
    let end = start;
    for (;;) {
      const difference = differences[nextDifference];
      const more = edits[nextEdit];
      if (more !== undefined && more.old.from <= Math.max(end, edit.old.from)) {
        end = Math.max(end, more.old.to);
        shift = more.now.to - more.old.to;
        nextEdit += 1;
      } else if (difference !== undefined && difference.b.from <= end) {
        end = Math.max(end, difference.b.to);
        offset = difference.a.to - difference.b.to;
        nextDifference += 1;
      } else {
        break;
      }
    }
    yield {
      cover: { a: { from: startA, to: end + offset }, b: { from: startB, to: end + shift } },
    };
  }
  yield* keepUntil(Number.POSITIVE_INFINITY);
}

function shifted(span: Span, by: number): Span {
  return { from: span.from + by, to: span.to + by };
}

function sameSpan(one: Span, other: Span): boolean {
  return one.from === other.from && one.to === other.to;
}
