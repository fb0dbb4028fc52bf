import { describe, expect, it } from "vitest";
import type { Detail } from "../src/api/wire";
import { conflictsIn, isMarker } from "../src/review/conflicts";
import { reviewOf } from "../src/review/from-proposal";
import { obstacleTo } from "../src/review/obstacle";
import { textOf } from "./cases";
import { detailOf } from "./details";

const CONFLICT = "<<<<<<< in the file now\na\n=======\nA\n>>>>>>> proposed\n";
/** As in a text that has lines like markers. */
const LONG = "<<<<<<<<< in the file now\na\n=========\nA\n>>>>>>>>> proposed\n";

describe("conflicts", () => {
  it.each([
    [CONFLICT, 1],
    [`x\n${CONFLICT}y\n${CONFLICT}`, 2],
    ["<<<<<<< in the file now\na\n", 1],
    ["a\n>>>>>>> proposed\n", 1],
    [`<<<<<<< in the file now\n${CONFLICT}`, 2],
    [LONG, 1],
    [`<<<<<<<< HEAD\n${LONG}>>>>>>>> main\n`, 1],
    ["Title\n=======\ntext\n", 0],
    ["<<<<<<<<<<<< a banner\n", 0],
    ["", 0],
    [CONFLICT.replaceAll("\n", "\r\n"), 1],
  ])("of %j are %i", (text, number) => {
    expect(conflictsIn(textOf(text))).toHaveLength(number);
  });

  it("are whole lines, with their markers", () => {
    const text = `x\n${CONFLICT}y\n`;
    const [{ from, to }] = conflictsIn(textOf(text)) as [{ from: number; to: number }];
    expect(text.slice(from, to)).toBe(CONFLICT);
  });

  it.each([CONFLICT, LONG, LONG.replaceAll("\n", "\r\n")])("have three markers in %j", (text) => {
    expect(text.split("\n").map(isMarker)).toEqual([true, false, true, false, true, false]);
  });
});

describe("what keeps a proposal from being accepted", () => {
  const plain = detailOf("a\nb\n", "A\nb\n");
  const draft = (text: string) => detailOf("a\nb\n", "A\nb\n", text);
  it.each<[string, Detail, string | undefined]>([
    ["nothing", plain, undefined],
    ["an edit", draft("A!\nb\n"), undefined],
    ["the terminal", { ...plain, terminalOnly: "too large" }, "terminal-only"],
    ["a conflict", { ...draft(`${CONFLICT}b\n`), conflicts: 1 }, "conflicts"],
    ["a conflict with long markers", { ...draft(`${LONG}b\n`), conflicts: 1 }, "conflicts"],
    ["a conflict that was resolved", { ...draft("aA\nb\n"), conflicts: 1 }, undefined],
    ["a text about conflicts", draft(`${CONFLICT}b\n`), undefined],
    ["nothing that is left", draft("a\nb\n"), "nothing-left"],
    ["an emptied new file", detailOf(undefined, "a\n", ""), "nothing-left"],
    ["a proposal without a change", detailOf("a\n", "a\n"), undefined],
    ["only line endings", detailOf("a\r\nb\r\n", "A\nb\n", "a\nb\n"), undefined],
  ])("%s", (_what, detail, kind) => {
    expect(obstacleTo(reviewOf(detail))?.kind).toBe(kind);
  });
});
