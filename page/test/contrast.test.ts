import { describe, expect, it } from "vitest";
import tokens from "../src/styles/tokens.css?raw";

/** The colours of one theme by their names. */
function themeOf(index: 0 | 1): Map<string, string> {
  const pairs = tokens.matchAll(/--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)/g);
  return new Map([...pairs].map(([, name, light, dark]) => [name, [light, dark][index]] as never));
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

const CODE = ["keyword", "string", "number", "comment", "type", "name"].map(
  (name) => `code-${name}`,
);

const STANDS_ON: [texts: string[], grounds: string[]][] = [
  [
    ["text", "quiet"],
    ["ground", "paper", "raised"],
  ],
  [["text", "accent"], ["accent-ground"]],
  [["on-accent"], ["accent"]],
  [["danger"], ["paper", "danger-ground"]],
  [
    ["added-text", "danger"],
    ["ground", "paper", "raised"],
  ],
  [["warn-text"], ["warn-ground", "paper", "ground"]],
  [
    ["text", ...CODE],
    ["paper", "added", "added-word", "removed", "removed-word"],
  ],
];

describe.each([
  ["light", themeOf(0)],
  ["dark", themeOf(1)],
])("%s", (_name, theme) => {
  const cases = STANDS_ON.flatMap(([texts, grounds]) =>
    texts.flatMap((text) => grounds.map((ground) => [text, ground] as const)),
  );
  it.each(cases)("%s is readable on %s", (text, ground) => {
    const ratio = contrast(theme.get(text) as string, theme.get(ground) as string);
    expect(ratio).toBeGreaterThanOrEqual(4.5);
  });
});
