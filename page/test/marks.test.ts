import { ChangeSet } from "@codemirror/state";
import { describe, expect, it } from "vitest";
import { changedLines } from "../src/review/lines";
import { movedMarks } from "../src/review/marks";
import type { Pair } from "../src/review/span";
import { forEachCase, someChanges, textOf } from "./cases";

/** What marks promise: whole lines, in order, and equal texts outside of them. */
function expectSound(marks: readonly Pair[], a: string, b: string): void {
  let endA = 0;
  let endB = 0;
  for (const mark of [...marks, undefined]) {
    const startA = mark?.a.from ?? a.length;
    const startB = mark?.b.from ?? b.length;
    expect(startA).toBeGreaterThanOrEqual(endA);
    expect(b.slice(endB, startB)).toBe(a.slice(endA, startA));
    if (!mark) return;
    expect(startsLine(a, mark.a.from) && startsLine(a, mark.a.to, true)).toBe(true);
    expect(startsLine(b, mark.b.from) && startsLine(b, mark.b.to, true)).toBe(true);
    expect(a.slice(mark.a.from, mark.a.to)).not.toBe(b.slice(mark.b.from, mark.b.to));
    endA = mark.a.to;
    endB = mark.b.to;
  }
}

function startsLine(text: string, at: number, orEnd = false): boolean {
  return at === 0 || text[at - 1] === "\n" || (orEnd && at === text.length);
}

describe("changed lines", () => {
  it("covers every difference, in whole lines", () => {
    forEachCase(1_000, (random) => {
      const [a, b] = [random.text(10), random.text(10)];
      expectSound(changedLines(a, b), a, b);
    });
  });

  it("finds single lines among many", () => {
    const lines = Array.from({ length: 2_000 }, (_, line) => `line ${line}\n`);
    const edited = lines.map((line, at) => (at % 500 === 7 ? `new ${line}` : line));
    expect(changedLines(lines.join(""), edited.join(""))).toHaveLength(4);
  });
});

describe("marks while typing", () => {
  it("stay true through any edit", () => {
    forEachCase(1_000, (random) => {
      const a = random.text(14);
      let b = textOf(random.text(14));
      let marks = changedLines(a, b.toString());
      for (let round = 0; round < 4; round += 1) {
        const changes = someChanges(random, b.length);
        b = changes.apply(b);
        marks = movedMarks(marks, textOf(a), b, changes);
        expectSound(marks, a, b.toString());
      }
    });
  });

  it("vanish when the original lines come back", () => {
    const a = textOf("a\nb\nc\n");
    const b = textOf("a\nX\nc\n");
    const marks = changedLines(a.toString(), b.toString());
    const back = ChangeSet.of({ from: 2, to: 4, insert: "b\n" }, b.length, "\n");
    expect(movedMarks(marks, a, back.apply(b), back)).toEqual([]);
  });
});
