import { describe, expect, it } from "vitest";
import { commandsFor, completed, completingAt } from "../../src/chat/completion-text";

/** The caret is `|`. */
const CASES: [before: string, kind: string, chosen: string, after: string][] = [
  ["@|", "file", "a.rs", "a.rs |"],
  ["see @src/ma| now", "file", "src/main.rs", "see src/main.rs| now"],
  ["a\n@x|", "file", "y", "a\ny |"],
  ["/co|", "command", "compress", "/compress |"],
  ["/|", "command", "help", "/help |"],
];

describe("what is typed", () => {
  it.each(CASES)("%j completes a %s", (before, kind, chosen, after) => {
    const caret = before.indexOf("|");
    const text = before.replace("|", "");
    const completing = completingAt(text, caret);
    expect(completing?.kind).toBe(kind);
    const done = completing && completed(text, completing, chosen);
    expect(done && `${done.text.slice(0, done.caret)}|${done.text.slice(done.caret)}`).toBe(after);
  });

  it.each(["|", "a@b|", "@a b|", "say /x|", "/x y|", "/usr/bin|", "@a@|"])(
    "%j completes nothing",
    (before) => {
      expect(completingAt(before.replace("|", ""), before.indexOf("|"))).toBeUndefined();
    },
  );
});

it("commands that begin with what was typed come first", () => {
  const commands = [["recompress"], ["model"], ["Compress"]] as const;
  expect(commandsFor(commands, "comp").map(([name]) => name)).toEqual(["Compress", "recompress"]);
  expect(commandsFor(commands, "").length).toBe(3);
});
