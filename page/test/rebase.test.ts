import { describe, expect, it } from "vitest";
import { rebased } from "../src/review/rebase";
import { forEachCase } from "./cases";

describe("what was typed", () => {
  it.each([
    ["into another line", "a\nb\nc\nd\n", "A\nb\nc\nd\n", "a\nb\nc\nD\n", "A\nb\nc\nD\n"],
    ["below new lines", "a\nb\nc\n", "a\nb\nC\n", "new\nnew\na\nb\nc\n", "new\nnew\na\nb\nC\n"],
    ["between changes", "a\nb\nc\nd\ne\n", "a\nb\nX\nd\ne\n", "A\nb\nc\nd\n", "A\nb\nX\nd\n"],
    ["nowhere", "a\n", "a\n", "b\n", "b\n"],
    ["into the same line", "a\nb\n", "A\nb\n", "x\nb\n", undefined],
    ["beside a change", "a\nb\n", "A\nb\n", "a\nB\n", undefined],
  ])("%s", (_where, base, mine, theirs, joined) => {
    expect(rebased(base, mine, theirs)).toBe(joined);
  });

  it("is never lost, nor is what is new", () => {
    forEachCase(500, (random) => {
      const [base, theirs] = [random.text(12), random.text(12)];
      const mine = base.replace("let x = 1;", "TYPED BY ME");
      const joined = rebased(base, mine, theirs);
      expect(rebased(base, base, theirs)).toBe(theirs);
      expect(rebased(base, mine, base)).toBe(mine);
      if (joined === undefined) return;
      expect(joined.includes("TYPED BY ME")).toBe(mine !== base);
    });
  });
});
