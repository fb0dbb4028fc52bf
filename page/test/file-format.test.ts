import { describe, expect, it } from "vitest";
import {
  BOM,
  fileFormatOf,
  fromDocument,
  lineEndingOf,
  originalDocument,
  toDocument,
} from "../src/review/file-format";
import { forEachCase } from "./cases";

describe("endings", () => {
  it.each([
    ["", "none"],
    ["a", "none"],
    ["a\r", "none"],
    ["\n", "lf"],
    ["a\nb", "lf"],
    ["a\rb\n", "lf"],
    ["\r\n", "crlf"],
    ["a\r\nb", "crlf"],
    ["a\r\nb\n", "mixed"],
    ["a\nb\r\n", "mixed"],
    [`${BOM}a\r\n`, "crlf"],
  ] as const)("%j ends with %s", (text, ending) => {
    expect(lineEndingOf(text)).toBe(ending);
  });
});

describe("documents", () => {
  it.each([
    // original, proposed, document of the original, document of the result
    ["a\r\nb\r\n", "a\r\nc\r\n", "a\nb\n", "a\nc\n"],
    ["a\r\nb\r\n", "a\nc\n", "a\nb\n", "a\nc\n"],
    ["a\r\nb\r\n", "a\r\nc\n", "a\r\nb\r\n", "a\r\nc\n"],
    ["a\nb\n", "a\r\nb\r\n", "a\nb\n", "a\r\nb\r\n"],
    ["", "a\r\n", "", "a\n"],
    ["a\r\n", "", "a\n", ""],
    [`${BOM}a\n`, "b\n", "a\n", "b\n"],
  ])("%j against %j", (original, proposed, left, right) => {
    const format = fileFormatOf(original, proposed, proposed);
    expect(originalDocument(original, format)).toBe(left);
    expect(toDocument(proposed, format)).toBe(right);
  });

  it("gives every text back byte for byte", () => {
    forEachCase(1_000, (random) => {
      const endings = random.pick([["\n"], ["\r\n"], ["\n", "\r\n"], ["\r\r\n"], ["\r", "\n"]]);
      const text = () => random.pick(["", BOM]) + random.text(4, endings);
      const [original, proposed, current] = [text(), text(), text()];
      const format = fileFormatOf(original, proposed, current);
      expect(fromDocument(toDocument(current, format), format)).toBe(current);
      const unmarked = { ...format, bom: proposed.startsWith(BOM) };
      expect(fromDocument(toDocument(proposed, format), unmarked)).toBe(proposed);
    });
  });
});
