/** Log entries and the ends of proposals in words. Names and paths go through `visible`. */

import type { CloseReason, LogEntry } from "../api/wire";
import { count, size } from "./format";
import { visible } from "./visible";

/** How a proposal was closed; editors use the same words. */
export const CLOSED_HOW: Record<CloseReason, string> = {
  accepted: "accepted",
  rejected: "rejected",
  withdrawn: "taken back by its agent",
  replaced: "replaced by its agent",
  orphaned: "left by its agent",
};

export function logSentence(
  entry: LogEntry,
  pathOf: (path: string) => string = (path) => path,
): string {
  const agent = visible(entry.agent ?? "an agent");
  const file = entry.path === undefined ? "a file" : visible(pathOf(entry.path));
  switch (entry.kind) {
    case "connected":
      return `${agent} connected`;
    case "disconnected":
      return `${agent} disconnected`;
    case "context":
      return `${agent === "an agent" ? "Agents were" : `${agent} was`} told about ${told(entry)}`;
    case "proposed":
      return `${agent} proposes a change to ${file}`;
    case "accepted":
      return `You accepted ${agent}’s change to ${file}`;
    case "rejected":
      return `You rejected ${agent}’s change to ${file}`;
    case "withdrawn":
      return `${agent} took back its change to ${file}`;
    case "replaced":
      return `${agent} replaced its change to ${file} with a newer one`;
    case "orphaned":
      return `${agent} disconnected and left its change to ${file}`;
    case "paused":
      return "You paused what agents see";
    case "resumed":
      return "You let agents see your files again";
  }
}

function told({ files, bytes, times }: LogEntry): string {
  const what = files === 0 ? "no open file" : count(files ?? 0, "open file");
  const often = times !== undefined && times > 1 ? `, ${times} times` : "";
  return `${what}${bytes === undefined ? "" : `, ${size(bytes)}`}${often}`;
}
