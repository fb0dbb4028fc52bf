import { describe, expect, it } from "vitest";
import type { Detail } from "../src/api/wire";
import { conflictsIn } from "../src/review/conflicts";
import { reviewOf } from "../src/review/from-proposal";
import { obstacleTo } from "../src/review/obstacle";
import { textOf } from "./cases";
import { detailOf } from "./details";

const CONFLICT = "<<<<<<< yours\na\n=======\nA\n>>>>>>> the agent's\n";

describe("conflicts", () => {
  it.each([
    [CONFLICT, 1],
    [`x\n${CONFLICT}y\n${CONFLICT}`, 2],
    ["<<<<<<< only the start\na\n", 1],
    ["a\n>>>>>>> only the end\n", 1],
    [`<<<<<<< forgotten\n${CONFLICT}`, 2],
    ["Title\n=======\ntext\n", 0],
    ["<<<<<<<<<<<< a banner\n", 0],
    ["", 0],
    ["<<<<<<<\r\na\r\n>>>>>>>\r\n", 1],
  ])("of %j are %i", (text, number) => {
    expect(conflictsIn(textOf(text))).toHaveLength(number);
  });

  it("are whole lines, with their markers", () => {
    const text = `x\n${CONFLICT}y\n`;
    const [{ from, to }] = conflictsIn(textOf(text)) as [{ from: number; to: number }];
    expect(text.slice(from, to)).toBe(CONFLICT);
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
