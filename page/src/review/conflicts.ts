/** Places that have both versions between conflict markers, because they could not be merged. Pure. */

import type { Text } from "@codemirror/state";
import type { Review } from "./review";
import type { Span } from "./span";

// As the companion writes them. They are longer than seven if a text has such lines itself.
const START = /^<{7,} in the file now\r?$/;
const MIDDLE = /^={7,}\r?$/;
const END = /^>{7,} proposed\r?$/;

/** Whether a line of a conflict is one of its markers. */
export function isMarker(line: string): boolean {
  return [START, MIDDLE, END].some((marker) => marker.test(line));
}

/** The conflicts that are left in the result, in whole lines. */
export function conflictsOf({ detail, result }: Review): Span[] {
  // A text may be about such markers; only where the companion has put some, they are conflicts.
  return (detail.conflicts ?? 0) > 0 ? conflictsIn(result) : [];
}

/** Also a marker without its counterpart is one: it was forgotten. */
export function conflictsIn(document: Text): Span[] {
  const found: Span[] = [];
  let open: Span | undefined;
  let from = 0;
  for (const lines = document.iterLines(); !lines.next().done; ) {
    const to = Math.min(document.length, from + lines.value.length + 1);
    if (START.test(lines.value)) {
      if (open !== undefined) found.push(open);
      open = { from, to };
    } else if (END.test(lines.value)) {
      found.push({ from: open?.from ?? from, to });
      open = undefined;
    }
    from = to;
  }
  if (open !== undefined) found.push(open);
  return found;
}
