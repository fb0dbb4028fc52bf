import { describe, expect, it } from "vitest";
import type { Detail } from "../src/api/wire";
import { reviewOf } from "../src/review/from-proposal";
import { stateOf } from "../src/review/hunks";
import { isAsProposed, isDeletion, textOf } from "../src/review/review";
import { forEachCase } from "./cases";
import { detailOf } from "./details";

const states = (detail: Detail) => {
  const review = reviewOf(detail);
  return review.hunks.map((hunk) => stateOf(hunk, review.texts, review.result));
};

describe("a review", () => {
  it("starts as proposed, and writes exactly that", () => {
    forEachCase(500, (random) => {
      const endings = random.pick([["\n"], ["\r\n"]]);
      const bom = random.pick(["", "\ufeff"]);
      const detail = detailOf(bom + random.text(8, endings), bom + random.text(8, endings));
      const review = reviewOf(detail);
      expect(textOf(review)).toBe(detail.proposed);
      expect(isAsProposed(review)).toBe(true);
      expect(states(detail).every((state) => state === "kept")).toBe(true);
    });
  });

  it("takes over a draft, byte for byte", () => {
    forEachCase(500, (random) => {
      const text = () => random.text(8, ["\r\n"]);
      const detail = detailOf(text(), text(), text());
      const review = reviewOf(detail);
      expect(textOf(review)).toBe(detail.current);
      expect(isAsProposed(review)).toBe(detail.current === detail.proposed);
    });
  });

  it("sees what a draft made of the hunks", () => {
    const original = "a\r\nb\r\nc\r\nd\r\ne\r\n";
    const proposed = "A\r\nb\r\nC\r\nd\r\nE\r\n";
    const draft = "a\r\nb\r\nC\r\nd\r\nE!\r\n";
    expect(states(detailOf(original, proposed, draft))).toEqual(["dropped", "kept", "edited"]);
  });

  it("knows a new file and an emptied one", () => {
    const added = reviewOf(detailOf(undefined, "a\n"));
    expect([textOf(added), added.hunks.length, isDeletion(added)]).toEqual(["a\n", 1, false]);
    const emptied = reviewOf(detailOf("a\nb\n", ""));
    expect([textOf(emptied), emptied.hunks.length, isDeletion(emptied)]).toEqual(["", 1, true]);
  });
});
