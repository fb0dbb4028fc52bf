/**
 * Where the result differs from the original, while the person types.
 *
 * A mark is a pair of ranges of whole lines. Outside of the marks both documents
 * are equal, character by character. The companion's hunks are marks; an edit moves
 * them along and compares only the lines that it touched, until the companion's
 * answer replaces them.
 */

import type { ChangeDesc, Text } from "@codemirror/state";
import type { HunkAt } from "../api/wire";
import { changedLines } from "./lines";
import { lineStart, nextLineStart, type Pair, type Span, slice, spanOfLines } from "./span";

/** Hunks of the companion as marks. */
export function marksOf(hunks: readonly HunkAt[], a: Text, b: Text): Pair[] {
  return hunks.map((hunk) => ({
    a: spanOfLines(a, hunk.original),
    b: spanOfLines(b, hunk.proposed),
  }));
}

export function sameMarks(one: readonly Pair[], other: readonly Pair[]): boolean {
  return (
    one.length === other.length &&
    one.every((mark, index) => {
      const twin = other[index] as Pair;
      return sameSpan(mark.a, twin.a) && sameSpan(mark.b, twin.b);
    })
  );
}

/** The marks after `changes` were made to the result, which is `b` now. */
export function movedMarks(marks: readonly Pair[], a: Text, b: Text, changes: ChangeDesc): Pair[] {
  const moved: Pair[] = [];
  for (const step of sweep(marks, edits(b, changes))) {
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
 * Goes through marks and edits in order. A mark that no edit touches is kept, in its
 * new place. Edits and marks that touch each other are covered together.
 */
function* sweep(
  marks: readonly Pair[],
  edits: readonly Edit[],
): Generator<{ kept: Pair } | { cover: Pair }> {
  let nextMark = 0;
  let nextEdit = 0;
  // From the old result to the new one, after the last edit.
  let shift = 0;
  // From the old result to the original, after the last mark.
  let offset = 0;
  const keepUntil = function* (at: number) {
    for (let mark = marks[nextMark]; mark && mark.b.to < at; mark = marks[nextMark]) {
      yield { kept: shift === 0 ? mark : { a: mark.a, b: shifted(mark.b, shift) } };
      offset = mark.a.to - mark.b.to;
      nextMark += 1;
    }
  };

  for (let edit = edits[nextEdit]; edit; edit = edits[nextEdit]) {
    yield* keepUntil(edit.old.from);
    const first = marks[nextMark];
    const fromMark = first !== undefined && first.b.from <= edit.old.from;
    const start = fromMark ? first.b.from : edit.old.from;
    const startA = fromMark ? first.a.from : start + offset;
    const startB = start + shift;
    let end = start;
    for (;;) {
      const mark = marks[nextMark];
      const more = edits[nextEdit];
      if (more !== undefined && more.old.from <= Math.max(end, edit.old.from)) {
        end = Math.max(end, more.old.to);
        shift = more.now.to - more.old.to;
        nextEdit += 1;
      } else if (mark !== undefined && mark.b.from <= end) {
        end = Math.max(end, mark.b.to);
        offset = mark.a.to - mark.b.to;
        nextMark += 1;
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
