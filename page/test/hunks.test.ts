import { ChangeSet, type Text } from "@codemirror/state";
import { describe, expect, it } from "vitest";
import {
  changesTo,
  type Hunk,
  type HunkState,
  movedHunks,
  stateOf,
  type Texts,
  toggle,
} from "../src/review/hunks";
import { changedLines } from "../src/review/line-diff";
import { forEachCase, type Random, someChanges, textOf } from "./cases";

/** Texts and hunks as a review starts with them, hunks as the companion would find them. */
function startOf(original: string, proposed: string): { texts: Texts; hunks: Hunk[] } {
  const hunks = changedLines(original, proposed).map(({ a, b }, index) => ({
    number: index + 1,
    original: a,
    proposed: b,
    at: b,
  }));
  return { texts: { original: textOf(original), proposed: textOf(proposed) }, hunks };
}

class Edited {
  result: Text;
  constructor(
    readonly texts: Texts,
    public hunks: Hunk[],
  ) {
    this.result = texts.proposed;
  }

  make(changes: ChangeSet): void {
    const before = this.result;
    this.result = changes.apply(before);
    this.hunks = movedHunks(this.hunks, this.texts, before, this.result, changes);
  }

  states(): HunkState[] {
    return this.hunks.map((hunk) => stateOf(hunk, this.texts, this.result));
  }

  toggle(index: number): ChangeSet {
    const hunk = this.hunks[index] as Hunk;
    const spec = toggle(hunk, stateOf(hunk, this.texts, this.result), this.texts);
    const changes = ChangeSet.of(spec, this.result.length, "\n");
    const undo = changes.invert(this.result);
    this.make(changes);
    return undo;
  }
}

function someEdited(random: Random): Edited {
  const { texts, hunks } = startOf(random.text(12), random.text(12));
  return new Edited(texts, hunks);
}

describe("dropping and keeping", () => {
  it("gives the original, the proposal, or the merge of both", () => {
    forEachCase(1_000, (random) => {
      const edited = someEdited(random);
      const dropped = edited.hunks.map(() => random.below(2) === 0);
      for (const [index, drop] of dropped.entries()) if (drop) edited.toggle(index);
      expect(edited.states()).toEqual(dropped.map((drop) => (drop ? "dropped" : "kept")));
      expect(edited.result.toString()).toBe(merge(edited, dropped));

      const undo = dropped.flatMap((drop, index) => (drop ? [] : [edited.toggle(index)]));
      expect(edited.result.toString()).toBe(edited.texts.original.toString());
      for (const changes of undo.reverse()) edited.make(changes);
      expect(edited.result.toString()).toBe(merge(edited, dropped));

      for (const [index, drop] of dropped.entries()) if (drop) edited.toggle(index);
      expect(edited.result.toString()).toBe(edited.texts.proposed.toString());
      expect(edited.states().every((state) => state === "kept")).toBe(true);
    });
  });

  it("brings a hunk back that was edited", () => {
    const { texts, hunks } = startOf("a\nb\nc\n", "a\nB\nc\n");
    const edited = new Edited(texts, hunks);
    edited.make(ChangeSet.of({ from: 3, insert: "!\nmore" }, 6, "\n"));
    expect(edited.states()).toEqual(["edited"]);
    edited.toggle(0);
    expect(edited.result.toString()).toBe("a\nB\nc\n");
    edited.toggle(0);
    expect(edited.result.toString()).toBe("a\nb\nc\n");
  });

  it("leaves what was typed after a hunk alone", () => {
    const { texts, hunks } = startOf("a\nb\nc\n", "a\nB\nc\n");
    const edited = new Edited(texts, hunks);
    edited.make(ChangeSet.of({ from: 4, insert: "new\n" }, 6, "\n"));
    expect(edited.states()).toEqual(["kept"]);
    edited.toggle(0);
    expect(edited.result.toString()).toBe("a\nb\nnew\nc\n");
  });
});

describe("hunks while typing", () => {
  it("stay in order, in whole lines, inside the result", () => {
    forEachCase(1_000, (random) => {
      const edited = someEdited(random);
      for (let round = 0; round < 4; round += 1) {
        if (random.below(2) === 0 && edited.hunks.length > 0) {
          edited.toggle(random.below(edited.hunks.length));
        } else {
          edited.make(someChanges(random, edited.result.length));
        }
        let end = 0;
        for (const { at } of edited.hunks) {
          expect(at.from).toBeGreaterThanOrEqual(end);
          expect(at.to).toBeGreaterThanOrEqual(at.from);
          expect(at.to).toBeLessThanOrEqual(edited.result.length);
          end = at.to;
        }
      }
    });
  });
});

describe("a draft from elsewhere", () => {
  it("is taken over with what was kept and dropped in it", () => {
    forEachCase(1_000, (random) => {
      const edited = someEdited(random);
      const start = edited.hunks;
      const dropped = start.map(() => random.below(2) === 0);
      for (const [index, drop] of dropped.entries()) if (drop) edited.toggle(index);
      const draft = edited.result;
      const differences = changedLines(edited.texts.original.toString(), draft.toString());

      const changes = changesTo(draft, start, differences, edited.texts);
      expect(changes.apply(edited.texts.proposed).toString()).toBe(draft.toString());
    });
  });

  it("may be any text", () => {
    forEachCase(1_000, (random) => {
      const edited = someEdited(random);
      const draft = textOf(random.text(12));
      const differences = changedLines(edited.texts.original.toString(), draft.toString());
      const changes = changesTo(draft, edited.hunks, differences, edited.texts);
      expect(changes.apply(edited.texts.proposed).toString()).toBe(draft.toString());
    });
  });

  it("tells a dropped hunk from a kept one", () => {
    const original = "1\n2\n3\n4\n5\n6\n";
    const { texts, hunks } = startOf(original, "1\nnew\n2\n3\n5\nsix\n");
    const draft = textOf("1\n2\n3\n4\n5\nsix\n");
    const differences = changedLines(original, draft.toString());
    const edited = new Edited(texts, hunks);
    edited.make(changesTo(draft, hunks, differences, texts));
    expect(edited.states()).toEqual(["dropped", "dropped", "kept"]);
  });
});

/** The proposal with the original lines put back where a hunk was dropped. */
function merge({ texts, hunks }: Edited, dropped: boolean[]): string {
  let merged = "";
  let done = 0;
  for (const [index, { original, proposed }] of hunks.entries()) {
    if (!dropped[index]) continue;
    merged += texts.proposed.sliceString(done, proposed.from);
    merged += texts.original.sliceString(original.from, original.to);
    done = proposed.to;
  }
  return merged + texts.proposed.sliceString(done);
}
