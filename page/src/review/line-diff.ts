/**
 * Compares two short texts line by line.
 *
 * Hunks come from the companion. This is only for the time between a key stroke and the
 * companion's answer, and only for the lines around that key stroke.
 */

import { diff } from "@codemirror/merge";
import { isEmpty, type Pair } from "./span";

/** Longer texts, in lines, are not compared; all between the equal lines at both ends counts as changed. */
const MOST_LINES = 4_000;

/** Each distinct line is encoded as one character, below the surrogates, which come in pairs. */
const MOST_DISTINCT = 0xd800;

/** The changed lines, as ranges of characters, in order, with equal lines between them. */
export function changedLines(a: string, b: string): Pair[] {
  const linesA = cut(a);
  const linesB = cut(b);
  let start = 0;
  const shorter = Math.min(linesA.length, linesB.length);
  while (start < shorter && linesA[start] === linesB[start]) start += 1;
  let end = 0;
  while (end < shorter - start && linesA.at(-1 - end) === linesB.at(-1 - end)) end += 1;

  const middleA = linesA.slice(start, linesA.length - end);
  const middleB = linesB.slice(start, linesB.length - end);
  const offset = length(linesA.slice(0, start));
  const whole = {
    a: { from: offset, to: offset + length(middleA) },
    b: { from: offset, to: offset + length(middleB) },
  };
  if (middleA.length === 0 && middleB.length === 0) return [];
  if (middleA.length === 0 || middleB.length === 0) return [whole];
  if (middleA.length + middleB.length > MOST_LINES) return [whole];

  const codes = new Map<string, string>();
  const encode = (lines: string[]) => lines.map((line) => codeOf(codes, line)).join("");
  const codesA = encode(middleA);
  const codesB = encode(middleB);
  if (codes.size >= MOST_DISTINCT) return [whole];
  const startsA = starts(middleA, offset);
  const startsB = starts(middleB, offset);
  return diff(codesA, codesB, { scanLimit: 1_000 })
    .map((change) => ({
      a: { from: at(startsA, change.fromA), to: at(startsA, change.toA) },
      b: { from: at(startsB, change.fromB), to: at(startsB, change.toB) },
    }))
    .filter(({ a, b }) => !isEmpty(a) || !isEmpty(b));
}

/** Lines with their ends. */
function cut(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function codeOf(codes: Map<string, string>, line: string): string {
  const known = codes.get(line);
  if (known !== undefined) return known;
  const code = String.fromCharCode(codes.size % MOST_DISTINCT);
  codes.set(line, code);
  return code;
}

function starts(lines: string[], first: number): number[] {
  const all = [first];
  let next = first;
  for (const line of lines) {
    next += line.length;
    all.push(next);
  }
  return all;
}

function length(lines: string[]): number {
  return lines.reduce((sum, line) => sum + line.length, 0);
}

function at(list: number[], index: number): number {
  return list[index] ?? 0;
}
