/** Compares changed lines word by word. */

import { Change, presentableDiff } from "@codemirror/merge";

/** Longer texts, in characters, are compared only as long as few words differ, */
const LONGEST = 30_000;

/** and still longer ones not at all: everything from the first difference to the last one is marked. */
const LONGEST_COMPARED = 2_000_000;

/** How far the search goes, and for how many milliseconds, in long texts. */
const DEEP = { scanLimit: 20_000, timeout: 40 };

/** If more than this share differs, the lines were rewritten, and marked words would not help. */
const MOST_MARKED = 0.7;

export function changedWords(a: string, b: string): readonly Change[] {
  if (a === "" || b === "") return [];
  const length = a.length + b.length;
  if (length <= LONGEST_COMPARED) {
    const changes = presentableDiff(a, b, length <= LONGEST ? { scanLimit: 300 } : DEEP);
    const marked = changes.reduce(
      (sum, { fromA, toA, fromB, toB }) => sum + toA - fromA + toB - fromB,
      0,
    );
    return marked <= MOST_MARKED * (a.length + b.length) ? changes : [];
  }
  let start = 0;
  const shorter = Math.min(a.length, b.length);
  while (start < shorter && a.charCodeAt(start) === b.charCodeAt(start)) start += 1;
  let end = 0;
  while (
    end < shorter - start &&
    a.charCodeAt(a.length - 1 - end) === b.charCodeAt(b.length - 1 - end)
  ) {
    end += 1;
  }
  return [new Change(start, a.length - end, start, b.length - end)];
}
