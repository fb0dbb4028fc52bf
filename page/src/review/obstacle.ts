/** What keeps a proposal from being accepted as it stands. Pure. */

import { count } from "../text/format";
import { conflictsOf } from "./conflicts";
import { type Review, textOf } from "./review";

export interface Obstacle {
  kind: "terminal-only" | "conflicts" | "nothing-left";
  /** Why, and what to do instead. */
  words: string;
}

export function obstacleTo(review: Review): Obstacle | undefined {
  const { detail } = review;
  if (detail.terminalOnly !== undefined) {
    return { kind: "terminal-only", words: "Only the terminal can accept it" };
  }
  const conflicts = conflictsOf(review).length;
  if (conflicts > 0) {
    return {
      kind: "conflicts",
      words: `${count(conflicts, "conflict")} left: edit the result until no marker remains`,
    };
  }
  if (isNothingLeft(review)) {
    return {
      kind: "nothing-left",
      words: "Every change is dropped, so nothing is left to accept: keep one, or reject",
    };
  }
  return undefined;
}

/** Whether the person has turned every change of the agent back. */
function isNothingLeft(review: Review): boolean {
  const { hunks, differences, detail } = review;
  // Without differences the documents are equal, but not always the line endings of the texts.
  return hunks.length > 0 && differences.length === 0 && textOf(review) === (detail.original ?? "");
}
