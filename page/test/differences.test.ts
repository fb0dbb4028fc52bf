import { ChangeSet } from "@codemirror/state";
import { describe, expect, it } from "vitest";
import { movedDifferences } from "../src/review/differences";
import { changedLines } from "../src/review/line-diff";
import type { Pair } from "../src/review/span";
import { forEachCase, someChanges, textOf } from "./cases";

/** What differences promise: whole lines, in order, and equal texts outside of them. */
function expectSound(differences: readonly Pair[], a: string, b: string): void {
  let endA = 0;
  let endB = 0;
  for (const difference of [...differences, undefined]) {
    const startA = difference?.a.from ?? a.length;
    const startB = difference?.b.from ?? b.length;
    expect(startA).toBeGreaterThanOrEqual(endA);
    expect(b.slice(endB, startB)).toBe(a.slice(endA, startA));
    if (!difference) return;
    expect(startsLine(a, difference.a.from) && startsLine(a, difference.a.to, true)).toBe(true);
    expect(startsLine(b, difference.b.from) && startsLine(b, difference.b.to, true)).toBe(true);
    expect(a.slice(difference.a.from, difference.a.to)).not.toBe(
      b.slice(difference.b.from, difference.b.to),
    );
    endA = difference.a.to;
    endB = difference.b.to;
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

describe("differences while typing", () => {
  it("stay true through any edit", () => {
    forEachCase(1_000, (random) => {
      const a = random.text(14);
      let b = textOf(random.text(14));
      let differences = changedLines(a, b.toString());
      for (let round = 0; round < 4; round += 1) {
        const changes = someChanges(random, b.length);
        b = changes.apply(b);
        differences = movedDifferences(differences, textOf(a), b, changes);
        expectSound(differences, a, b.toString());
      }
    });
  });

  it("vanish when the original lines come back", () => {
    const a = textOf("a\nb\nc\n");
    const b = textOf("a\nX\nc\n");
    const differences = changedLines(a.toString(), b.toString());
    const back = ChangeSet.of({ from: 2, to: 4, insert: "b\n" }, b.length, "\n");
    expect(movedDifferences(differences, a, back.apply(b), back)).toEqual([]);
  });
});
