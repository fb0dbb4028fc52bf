/**
 * The hunks of a proposal in the result: where each one is now, and whether it is
 * kept, dropped or edited.
 *
 * Only the position of a hunk is stored. Its state follows from the text there: it is
 * kept if the result has the proposed lines, and dropped if it has the original ones.
 * So undoing, typing a line again or taking over the draft of another tab need no rules
 * of their own.
 */

import { ChangeSet, type Text } from "@codemirror/state";
import type { WireHunk } from "../api/wire";
import { changedLines } from "./line-diff";
import { isEmpty, lineStart, type Pair, type Span, slice, spanOfLines } from "./span";

/** A hunk of the proposal. */
export interface Hunk {
  /** The number that `outrigger accept` takes too, from 1. */
  number: number;
  /** Its lines in the original. */
  original: Span;
  /** Its lines in the proposed text. */
  proposed: Span;
  /** Its lines in the result. */
  at: Span;
}

export type HunkState = "kept" | "dropped" | "edited";

/** The texts of one review, as documents. */
export interface Texts {
  original: Text;
  proposed: Text;
}

/** The hunks of a result that is the proposed text as it is. */
export function hunksOf(wire: readonly WireHunk[], texts: Texts): Hunk[] {
  return wire.map(({ number, originalStart, originalEnd, proposedStart, proposedEnd }) => {
    const original = spanOfLines(texts.original, originalStart, originalEnd);
    const proposed = spanOfLines(texts.proposed, proposedStart, proposedEnd);
    return { number, original, proposed, at: proposed };
  });
}

export function stateOf(hunk: Hunk, texts: Texts, result: Text): HunkState {
  const { at, proposed, original } = hunk;
  const now = slice(result, at);
  if (size(at) === size(proposed) && now === slice(texts.proposed, proposed)) return "kept";
  if (size(at) === size(original) && now === slice(texts.original, original)) return "dropped";
  return "edited";
}

/** The change of the result that drops a hunk, or keeps it again. */
export function toggle(hunk: Hunk, state: HunkState, texts: Texts) {
  const insert =
    state === "kept" ? slice(texts.original, hunk.original) : slice(texts.proposed, hunk.proposed);
  return { from: hunk.at.from, to: hunk.at.to, insert };
}

/** The hunks after `changes` turned the result from `before` into `after`. */
export function movedHunks(
  hunks: readonly Hunk[],
  texts: Texts,
  before: Text,
  after: Text,
  changes: ChangeSet,
): Hunk[] {
  const filled = insertions(changes);
  let end = 0;
  return hunks.map((hunk) => {
    const at = moved(hunk, texts, before, after, changes, filled);
    // An edit can join lines of two hunks; the first hunk gets them.
    at.from = Math.max(at.from, end);
    at.to = Math.max(at.to, at.from);
    end = at.to;
    return at.from === hunk.at.from && at.to === hunk.at.to ? hunk : { ...hunk, at };
  });
}

function moved(
  { at, original, proposed }: Hunk,
  texts: Texts,
  before: Text,
  after: Text,
  changes: ChangeSet,
  filled: ReadonlyMap<number, string>,
): Span {
  const from = changes.mapPos(at.from, -1);
  if (isEmpty(at)) {
    // The hunk has no lines here. If its own lines are inserted at this place, they are the hunk.
    const inserted = filled.get(at.from);
    const own = [slice(texts.proposed, proposed), slice(texts.original, original)];
    const back = inserted && own.find((text) => text !== "" && inserted.startsWith(text));
    return { from, to: from + (back ? back.length : 0) };
  }
  // Text typed at the end of a last line without a newline belongs to that line.
  const open = at.to === before.length && before.sliceString(at.to - 1) !== "\n";
  const to = Math.max(from, changes.mapPos(at.to, open ? 1 : -1));
  const aligned = lineStart(after, from);
  if (to === from) return { from: aligned, to: aligned };
  const endsLine = to === after.length || after.sliceString(to - 1, to) === "\n";
  return { from: aligned, to: endsLine ? to : Math.min(after.length, after.lineAt(to).to + 1) };
}

/** Texts that were inserted and replace nothing, by their position in the old result. */
function insertions(changes: ChangeSet): Map<number, string> {
  const all = new Map<number, string>();
  changes.iterChanges((fromA, toA, _fromB, _toB, inserted) => {
    if (fromA === toA) all.set(fromA, inserted.toString());
  });
  return all;
}

/**
 * The changes that turn the proposed text into `result`, a draft of another client. Both
 * differ from the original in known places only, so only these are compared.
 */
export function changesTo(
  result: Text,
  hunks: readonly Hunk[],
  differences: readonly Pair[],
  texts: Texts,
): ChangeSet {
  const proposals = hunks.map((hunk) => ({ a: hunk.original, b: hunk.proposed }));
  const ends = new Map(hunks.map(({ proposed }) => [proposed.from, proposed.to]));
  const specs = [];
  for (const [before, after] of regions(proposals, differences)) {
    const text = slice(result, after);
    if (ends.get(before.from) === before.to) {
      // Exactly one hunk: it is replaced as a whole, as `toggle` does.
      if (text !== slice(texts.proposed, before)) specs.push({ ...before, insert: text });
      continue;
    }
    for (const { a, b } of changedLines(slice(texts.proposed, before), text)) {
      const insert = slice(result, { from: after.from + b.from, to: after.from + b.to });
      specs.push({ from: before.from + a.from, to: before.from + a.to, insert });
    }
  }
  return ChangeSet.of(specs, texts.proposed.length, "\n");
}

/** Where two texts can differ, if `one` and `other` are their differences from a third text. */
function* regions(one: readonly Pair[], other: readonly Pair[]): Generator<[Span, Span]> {
  const sides = [new Side(one), new Side(other)] as const;
  for (;;) {
    const start = Math.min(...sides.map((side) => side.start()));
    if (start === Number.POSITIVE_INFINITY) return;
    const from = sides.map((side) => side.place(start));
    let end = start;
    while (sides.some((side) => side.start() <= end)) {
      for (const side of sides) end = Math.max(end, side.passThrough(end));
    }
    const [before, after] = sides.map((side, index) => ({
      from: from[index] as number,
      to: side.place(end),
    }));
    yield [before as Span, after as Span];
  }
}

/** A cursor over one list of differences. */
class Side {
  private next = 0;
  /** From the third text to this one, after the last difference. */
  private offset = 0;

  constructor(private readonly pairs: readonly Pair[]) {}

  /** Where the next difference starts in the third text. */
  start(): number {
    return this.pairs[this.next]?.a.from ?? Number.POSITIVE_INFINITY;
  }

  place(at: number): number {
    return at + this.offset;
  }

  /** Passes the differences that start up to `end`; returns where the last one ends. */
  passThrough(end: number): number {
    let reached = end;
    for (let pair = this.pairs[this.next]; pair && pair.a.from <= reached; ) {
      reached = Math.max(reached, pair.a.to);
      this.offset = pair.b.to - pair.a.to;
      this.next += 1;
      pair = this.pairs[this.next];
    }
    return reached;
  }
}

function size(span: Span): number {
  return span.to - span.from;
}
