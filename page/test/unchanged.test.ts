import { describe, expect, it } from "vitest";
import { changedLines } from "../src/review/line-diff";
import { unchangedParts } from "../src/review/unchanged";
import { changedWords } from "../src/review/word-diff";
import { forEachCase, textOf } from "./cases";

const numbered = (count: number) => Array.from({ length: count }, (_, line) => `${line}\n`);

describe("parts", () => {
  it("leave three lines beside a change", () => {
    const lines = numbered(40);
    const a = lines.join("");
    const b = lines.with(20, "new\n").join("");
    const parts = unchangedParts(changedLines(a, b), textOf(a), textOf(b));
    const shown = parts.map((part) => a.slice(part.a.from, part.a.to).split("\n"));
    expect(shown.map((part) => [part[0], part.at(-1)])).toEqual([
      ["0", "16"],
      ["24", ""],
    ]);
  });

  it("are not worth it for a few lines, or where nothing is equal", () => {
    const lines = numbered(9);
    const a = lines.join("");
    expect(
      unchangedParts(changedLines(a, lines.with(4, "x\n").join("")), textOf(a), textOf(a)),
    ).toEqual([]);
    expect(unchangedParts(changedLines("", a), textOf(""), textOf(a))).toEqual([]);
  });

  it("hold the same text on both sides", () => {
    forEachCase(500, (random) => {
      const [a, b] = [random.text(60), random.text(60)];
      for (const part of unchangedParts(changedLines(a, b), textOf(a), textOf(b))) {
        expect(a.slice(part.a.from, part.a.to)).toBe(b.slice(part.b.from, part.b.to));
      }
    });
  });
});

describe("words", () => {
  it("are marked inside a line", () => {
    const [change] = changedWords("let total = 1;\n", "let count = 1;\n");
    expect(change).toMatchObject({ fromA: 4, toA: 9, fromB: 4, toB: 9 });
  });

  it("are not marked in lines that were written anew", () => {
    expect(changedWords("alpha beta\n", "x = 12345;\n")).toEqual([]);
  });

  it("are found far apart in one long line", () => {
    const filler = (letter: string) => `${letter.repeat(9)} `.repeat(9_000);
    const line = (one: string, two: string, three: string) =>
      `${filler("x")}${one} ${filler("y")}${two} ${filler("z")}${three}\n`;
    const [a, b] = [line("1", "2", "3"), line("one", "2 and", "three")];
    const marked = changedWords(a, b).map(({ fromB, toB }) => b.slice(fromB, toB).trim());
    expect(marked).toEqual(["one", "and", "three"]);
  });

  it("take no time in a line of a megabyte", () => {
    const long = "x".repeat(1_000_000);
    expect(changedWords(`${long}a${long}`, `${long}b${long}`)).toMatchObject([
      { fromA: 1_000_000, toA: 1_000_001 },
    ]);
  });
});
