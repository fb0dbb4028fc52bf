import { ChangeSet, type Text } from "@codemirror/state";
import { describe, expect, it } from "vitest";
import { changedLines } from "../src/review/lines";
import {
  changesTo,
  movedPieces,
  type Piece,
  type PieceState,
  stateOf,
  type Texts,
  toggle,
} from "../src/review/pieces";
import { forEachCase, type Random, someChanges, textOf } from "./cases";

/** A review as it starts, with hunks as the companion would find them. */
function reviewOf(original: string, proposed: string): { texts: Texts; pieces: Piece[] } {
  const pieces = changedLines(original, proposed).map(({ a, b }, index) => ({
    id: index + 1,
    original: a,
    proposed: b,
    at: b,
  }));
  return { texts: { original: textOf(original), proposed: textOf(proposed) }, pieces };
}

class Table {
  result: Text;
  constructor(
    readonly texts: Texts,
    public pieces: Piece[],
  ) {
    this.result = texts.proposed;
  }

  make(changes: ChangeSet): void {
    const before = this.result;
    this.result = changes.apply(before);
    this.pieces = movedPieces(this.pieces, this.texts, before, this.result, changes);
  }

  states(): PieceState[] {
    return this.pieces.map((piece) => stateOf(piece, this.texts, this.result));
  }

  toggle(index: number): ChangeSet {
    const piece = this.pieces[index] as Piece;
    const spec = toggle(piece, stateOf(piece, this.texts, this.result), this.texts);
    const changes = ChangeSet.of(spec, this.result.length, "\n");
    const undo = changes.invert(this.result);
    this.make(changes);
    return undo;
  }
}

function someTable(random: Random): Table {
  const { texts, pieces } = reviewOf(random.text(12), random.text(12));
  return new Table(texts, pieces);
}

describe("dropping and keeping", () => {
  it("gives the original, the proposal, or the merge of both", () => {
    forEachCase(1_000, (random) => {
      const table = someTable(random);
      const dropped = table.pieces.map(() => random.below(2) === 0);
      for (const [index, drop] of dropped.entries()) if (drop) table.toggle(index);
      expect(table.states()).toEqual(dropped.map((drop) => (drop ? "dropped" : "kept")));
      expect(table.result.toString()).toBe(merge(table, dropped));

      const undo = dropped.flatMap((drop, index) => (drop ? [] : [table.toggle(index)]));
      expect(table.result.toString()).toBe(table.texts.original.toString());
      for (const changes of undo.reverse()) table.make(changes);
      expect(table.result.toString()).toBe(merge(table, dropped));

      for (const [index, drop] of dropped.entries()) if (drop) table.toggle(index);
      expect(table.result.toString()).toBe(table.texts.proposed.toString());
      expect(table.states().every((state) => state === "kept")).toBe(true);
    });
  });

  it("brings a piece back that was edited", () => {
    const { texts, pieces } = reviewOf("a\nb\nc\n", "a\nB\nc\n");
    const table = new Table(texts, pieces);
    table.make(ChangeSet.of({ from: 3, insert: "!\nmore" }, 6, "\n"));
    expect(table.states()).toEqual(["edited"]);
    table.toggle(0);
    expect(table.result.toString()).toBe("a\nB\nc\n");
    table.toggle(0);
    expect(table.result.toString()).toBe("a\nb\nc\n");
  });

  it("leaves what was typed after a piece alone", () => {
    const { texts, pieces } = reviewOf("a\nb\nc\n", "a\nB\nc\n");
    const table = new Table(texts, pieces);
    table.make(ChangeSet.of({ from: 4, insert: "new\n" }, 6, "\n"));
    expect(table.states()).toEqual(["kept"]);
    table.toggle(0);
    expect(table.result.toString()).toBe("a\nb\nnew\nc\n");
  });
});

describe("pieces while typing", () => {
  it("stay in order, in whole lines, inside the result", () => {
    forEachCase(1_000, (random) => {
      const table = someTable(random);
      for (let round = 0; round < 4; round += 1) {
        if (random.below(2) === 0 && table.pieces.length > 0) {
          table.toggle(random.below(table.pieces.length));
        } else {
          table.make(someChanges(random, table.result.length));
        }
        let end = 0;
        for (const { at } of table.pieces) {
          expect(at.from).toBeGreaterThanOrEqual(end);
          expect(at.to).toBeGreaterThanOrEqual(at.from);
          expect(at.to).toBeLessThanOrEqual(table.result.length);
          end = at.to;
        }
      }
    });
  });
});

describe("a draft from elsewhere", () => {
  it("is taken over with what was kept and dropped in it", () => {
    forEachCase(1_000, (random) => {
      const table = someTable(random);
      const start = table.pieces;
      const dropped = start.map(() => random.below(2) === 0);
      for (const [index, drop] of dropped.entries()) if (drop) table.toggle(index);
      const draft = table.result;
      const marks = changedLines(table.texts.original.toString(), draft.toString());

      const changes = changesTo(draft, start, marks, table.texts);
      expect(changes.apply(table.texts.proposed).toString()).toBe(draft.toString());
    });
  });

  it("may be any text", () => {
    forEachCase(1_000, (random) => {
      const table = someTable(random);
      const draft = textOf(random.text(12));
      const marks = changedLines(table.texts.original.toString(), draft.toString());
      const changes = changesTo(draft, table.pieces, marks, table.texts);
      expect(changes.apply(table.texts.proposed).toString()).toBe(draft.toString());
    });
  });

  it("tells a dropped piece from a kept one", () => {
    const original = "1\n2\n3\n4\n5\n6\n";
    const { texts, pieces } = reviewOf(original, "1\nnew\n2\n3\n5\nsix\n");
    const draft = textOf("1\n2\n3\n4\n5\nsix\n");
    const marks = changedLines(original, draft.toString());
    const table = new Table(texts, pieces);
    table.make(changesTo(draft, pieces, marks, texts));
    expect(table.states()).toEqual(["dropped", "dropped", "kept"]);
  });
});

/** The proposal with the original lines put back where a piece was dropped. */
function merge({ texts, pieces }: Table, dropped: boolean[]): string {
  let merged = "";
  let done = 0;
  for (const [index, { original, proposed }] of pieces.entries()) {
    if (!dropped[index]) continue;
    merged += texts.proposed.sliceString(done, proposed.from);
    merged += texts.original.sliceString(original.from, original.to);
    done = proposed.to;
  }
  return merged + texts.proposed.sliceString(done);
}
