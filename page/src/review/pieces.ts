/**
 * The hunks of a proposal in the result: where each one is now, and whether it is
 * kept, dropped or edited.
 *
 * Nothing of that is remembered apart from the place: a hunk is kept where the
 * result has the proposed lines, and dropped where it has the original ones. So
 * undoing, typing a line back or taking over another tab's draft need no rules of
 * their own.
 */

import { ChangeSet, type Text } from "@codemirror/state";
import type { HunkAt } from "../api/wire";
import { changedLines } from "./lines";
import { isEmpty, lineStart, type Pair, type Span, slice, spanOfLines } from "./span";

/** A hunk of the proposal. */
export interface Piece {
  /** Its number, which the commands take too. */
  id: number;
  /** Its lines in the original. */
  original: Span;
  /** Its lines in the proposed text. */
  proposed: Span;
  /** Its lines in the result. */
  at: Span;
}

export type PieceState = "kept" | "dropped" | "edited";

/** The texts of one review, as documents. */
export interface Texts {
  original: Text;
  proposed: Text;
}

/** The pieces of a result that is the proposed text. */
export function piecesOf(hunks: readonly HunkAt[], texts: Texts): Piece[] {
  return hunks.map((hunk) => {
    const proposed = spanOfLines(texts.proposed, hunk.proposed);
    return {
      id: hunk.id,
      original: spanOfLines(texts.original, hunk.original),
      proposed,
      at: proposed,
    };
  });
}

export function stateOf(piece: Piece, texts: Texts, result: Text): PieceState {
  const { at, proposed, original } = piece;
  const now = slice(result, at);
  if (size(at) === size(proposed) && now === slice(texts.proposed, proposed)) return "kept";
  if (size(at) === size(original) && now === slice(texts.original, original)) return "dropped";
  return "edited";
}

/** The change of the result that drops a piece, or keeps it again. */
export function toggle(piece: Piece, state: PieceState, texts: Texts) {
  const insert =
    state === "kept"
      ? slice(texts.original, piece.original)
      : slice(texts.proposed, piece.proposed);
  return { from: piece.at.from, to: piece.at.to, insert };
}

/** The pieces after `changes` turned the result from `before` into `after`. */
export function movedPieces(
  pieces: readonly Piece[],
  texts: Texts,
  before: Text,
  after: Text,
  changes: ChangeSet,
): Piece[] {
  const filled = insertions(changes);
  let end = 0;
  return pieces.map((piece) => {
    const at = moved(piece, texts, before, after, changes, filled);
    // Lines can be joined over the border of two pieces; the first one has them then.
    at.from = Math.max(at.from, end);
    at.to = Math.max(at.to, at.from);
    end = at.to;
    return at.from === piece.at.from && at.to === piece.at.to ? piece : { ...piece, at };
  });
}

function moved(
  { at, original, proposed }: Piece,
  texts: Texts,
  before: Text,
  after: Text,
  changes: ChangeSet,
  filled: ReadonlyMap<number, string>,
): Span {
  const from = changes.mapPos(at.from, -1);
  if (isEmpty(at)) {
    // Lines that were dropped or kept come back exactly where there were none.
    const inserted = filled.get(at.from);
    const own = [slice(texts.proposed, proposed), slice(texts.original, original)];
    const back = inserted && own.find((text) => text !== "" && inserted.startsWith(text));
    return { from, to: from + (back ? back.length : 0) };
  }
  // What is typed after a last line that has no end belongs to that line.
  const open = at.to === before.length && before.sliceString(at.to - 1) !== "\n";
  const to = Math.max(from, changes.mapPos(at.to, open ? 1 : -1));
  const aligned = lineStart(after, from);
  if (to === from) return { from: aligned, to: aligned };
  const endsLine = to === after.length || after.sliceString(to - 1, to) === "\n";
  return { from: aligned, to: endsLine ? to : Math.min(after.length, after.lineAt(to).to + 1) };
}

/** What was inserted where nothing was taken away, by its place before. */
function insertions(changes: ChangeSet): Map<number, string> {
  const all = new Map<number, string>();
  changes.iterChanges((fromA, toA, _fromB, _toB, inserted) => {
    if (fromA === toA) all.set(fromA, inserted.toString());
  });
  return all;
}

/**
 * What was done to the proposed text to make it `result`, by somebody else: both
 * differ from the original in known places only, so only these are compared.
 */
export function changesTo(
  result: Text,
  pieces: readonly Piece[],
  marks: readonly Pair[],
  texts: Texts,
): ChangeSet {
  const proposals = pieces.map((piece) => ({ a: piece.original, b: piece.proposed }));
  const ends = new Map(pieces.map(({ proposed }) => [proposed.from, proposed.to]));
  const specs = [];
  for (const [before, after] of regions(proposals, marks)) {
    const text = slice(result, after);
    if (ends.get(before.from) === before.to) {
      // Exactly one piece: it is replaced as a whole, as `toggle` does it.
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

/** Where two texts may differ that differ from a third one in `one` and in `other`. */
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

/** One list of differences, gone through from the start to the end. */
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

  /** Passes the differences that start up to `end`; tells where the last one ends. */
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
