import { expect, it } from "vitest";
import { diffLines } from "../../src/chat/tool-diff";
import { forEachCase } from "../cases";

const shown = (before: string | undefined, after: string) =>
  diffLines(before, after).map(({ sign, text }) => sign + text);

const CASES: [name: string, before: string | undefined, after: string, lines: string[]][] = [
  ["a new file", undefined, "a\nb\n", ["+a", "+b"]],
  ["a line", "a\nb\nc\n", "a\nX\nc\n", [" a", "-b", "+X", " c"]],
  ["a line at the end", "a\n", "a\nb\n", [" a", "+b"]],
  ["all gone", "a\nb\n", "", ["-a", "-b"]],
  [
    "far apart",
    "a\n1\n2\n3\n4\n5\n6\nb\n",
    "A\n1\n2\n3\n4\n5\n6\nB\n",
    ["-a", "+A", " 1", " 2", "…", " 5", " 6", "-b", "+B"],
  ],
  ["what is far before", "1\n2\n3\n4\na\n", "1\n2\n3\n4\nb\n", ["…", " 3", " 4", "-a", "+b"]],
];

it.each(CASES)("shows %s", (_name, before, after, lines) => {
  expect(shown(before, after)).toEqual(lines);
});

it("loses no line of a change", () => {
  forEachCase(300, (random) => {
    const [before, after] = [`${random.text(12)}\n`, `${random.text(12)}\n`];
    const lines = diffLines(before, after);
    const count = (sign: string) => lines.filter((line) => line.sign === sign).length;
    const net = after.split("\n").length - before.split("\n").length;
    expect(count("+") - count("-")).toBe(net);
  });
});
