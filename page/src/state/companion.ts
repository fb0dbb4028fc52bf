/** What the page knows of the companion, and how each event changes it. Pure. */

import type {
  Context,
  Event,
  Hints,
  LogEntry,
  Proposal,
  Session,
  Snapshot,
  Status,
} from "../api/wire";

/** The companion's own log has the same limit. */
const LONGEST_LOG = 500;

export interface CompanionState {
  instance: string;
  status: Status;
  sessions: readonly Session[];
  proposals: readonly Proposal[];
  context: Context;
  log: readonly LogEntry[];
  hints: Hints;
  /** Whether there are conversations with a daemon. */
  chat: boolean;
  /** Why there are none although they are switched on, in the words of the companion. */
  whyNoChat: string | undefined;
}

export function companionStateOf(snapshot: Snapshot): CompanionState {
  const { instance, status, proposals, context, log, hints } = snapshot;
  const chat = snapshot.conversation !== undefined;
  const whyNoChat = chat ? undefined : status.noConversation;
  const { sessions } = status;
  return { instance, status, sessions, proposals, context, log, hints, chat, whyNoChat };
}

export function applyEvent(now: CompanionState, event: Event): CompanionState {
  switch (event.kind) {
    case "opened":
    case "revised":
      return { ...now, proposals: withProposal(now.proposals, event.data, event.kind) };
    case "closed":
      return { ...now, proposals: now.proposals.filter(({ id }) => id !== event.data.id) };
    case "sessions":
      return { ...now, sessions: event.data };
    case "faults":
      return { ...now, status: { ...now.status, faults: event.data } };
    case "editors":
      return { ...now, status: { ...now.status, ...event.data } };
    case "context":
      return { ...now, context: event.data };
    case "log": {
      // An entry under a number that is known is a newer version of that entry.
      const others = now.log.filter(({ number }) => number !== event.data.number);
      return { ...now, log: [...others, event.data].slice(-LONGEST_LOG) };
    }
    default:
      return now;
  }
}

/** The list with a proposal that is new, or in the place of an older version of it. */
function withProposal(
  proposals: readonly Proposal[],
  newer: Proposal,
  how: "opened" | "revised",
): readonly Proposal[] {
  const index = proposals.findIndex(({ id }) => id === newer.id);
  if (index >= 0) return proposals.with(index, newer);
  // A proposal that was closed meanwhile does not come back.
  return how === "opened" ? [...proposals, newer] : proposals;
}

/** Whether an agent can be told something right now. */
export function isConnected({ presence }: Session): boolean {
  return presence === "connected";
}

/** The proposal to select after `gone` was closed: the next one, or else the last one. */
export function successor(
  before: readonly Proposal[],
  now: readonly Proposal[],
  gone: number,
): number | undefined {
  const index = before.findIndex(({ id }) => id === gone);
  const pending = new Set(now.map(({ id }) => id));
  const next = before.slice(index + 1).find(({ id }) => pending.has(id));
  return (next ?? now.at(-1))?.id;
}
