/** What a newer companion sends and this page does not know. Pure. */

import { visibleLines } from "../text/visible";

/** Its text if it has one, or else that something is not shown. */
export function textOfUnknown(what: string, unknown: object): string {
  return "text" in unknown && typeof unknown.text === "string"
    ? visibleLines(unknown.text)
    : `Something is not shown here, because this page does not know it: ${visibleLines(what)}.`;
}
