import { describe, expect, it } from "vitest";
import type { Detail } from "../src/api/wire";
import { sheetOf } from "../src/review/laying";
import { changedLines } from "../src/review/lines";
import { stateOf } from "../src/review/pieces";
import { isAsProposed, isDeletion, textOf } from "../src/review/sheet";
import { forEachCase } from "./cases";

/** What the companion would answer, its hunks included. */
function detailOf(original: string | undefined, proposed: string, current?: string): Detail {
  const hunks = (text: string) =>
    changedLines(plain(original ?? ""), plain(text)).map(({ a, b }, index) => ({
      id: index + 1,
      original: lines(plain(original ?? ""), a.from, a.to),
      proposed: lines(plain(text), b.from, b.to),
    }));
  return {
    id: 1,
    path: "/p/a.txt",
    agent: "qwen",
    session: "s",
    opened_at: 0,
    new_file: original === undefined,
    hunks: hunks(proposed).length,
    editable: true,
    ...(original !== undefined && { original }),
    proposed,
    hunks_at: hunks(proposed),
    ...(current !== undefined && { current, current_hunks_at: hunks(current) }),
  };
}

/** Without what the companion looks past. */
const plain = (text: string) => text.replace("\ufeff", "").replaceAll("\r\n", "\n");

const lines = (text: string, from: number, to: number): [number, number] => [
  text.slice(0, from).split("\n").length - 1,
  text.slice(0, to).split("\n").length - (text.slice(0, to).endsWith("\n") || to === 0 ? 1 : 0),
];

const states = (detail: Detail) => {
  const sheet = sheetOf(detail);
  return sheet.pieces.map((piece) => stateOf(piece, sheet.texts, sheet.result));
};

describe("a sheet", () => {
  it("starts as proposed, and writes exactly that", () => {
    forEachCase(500, (random) => {
      const endings = random.pick([["\n"], ["\r\n"]]);
      const bom = random.pick(["", "\ufeff"]);
      const detail = detailOf(bom + random.text(8, endings), bom + random.text(8, endings));
      const sheet = sheetOf(detail);
      expect(textOf(sheet)).toBe(detail.proposed);
      expect(isAsProposed(sheet)).toBe(true);
      expect(states(detail).every((state) => state === "kept")).toBe(true);
    });
  });

  it("takes over a draft, byte for byte", () => {
    forEachCase(500, (random) => {
      const text = () => random.text(8, ["\r\n"]);
      const detail = detailOf(text(), text(), text());
      const sheet = sheetOf(detail);
      expect(textOf(sheet)).toBe(detail.current);
      expect(isAsProposed(sheet)).toBe(detail.current === detail.proposed);
    });
  });

  it("sees what a draft made of the hunks", () => {
    const original = "a\r\nb\r\nc\r\nd\r\ne\r\n";
    const proposed = "A\r\nb\r\nC\r\nd\r\nE\r\n";
    const draft = "a\r\nb\r\nC\r\nd\r\nE!\r\n";
    expect(states(detailOf(original, proposed, draft))).toEqual(["dropped", "kept", "edited"]);
  });

  it("knows a new file and an emptied one", () => {
    const added = sheetOf(detailOf(undefined, "a\n"));
    expect([textOf(added), added.pieces.length, isDeletion(added)]).toEqual(["a\n", 1, false]);
    const emptied = sheetOf(detailOf("a\nb\n", ""));
    expect([textOf(emptied), emptied.pieces.length, isDeletion(emptied)]).toEqual(["", 1, true]);
  });
});
