/** What the page knows of the companion, and how each announcement changes it. Pure. */

import type { Context, Entry, Event, Hints, Live, Proposal, Session, Status } from "../api/wire";

/** The log is as long as the companion's. */
const LONGEST_LOG = 500;

export interface Situation {
  instance: string;
  status: Status;
  sessions: readonly Session[];
  proposals: readonly Proposal[];
  context: Context;
  log: readonly Entry[];
  hints: Hints;
  chat: boolean;
}

export function situationOf(live: Live): Situation {
  const { instance, status, proposals, context, log, hints, chat } = live;
  return { instance, status, sessions: status.sessions, proposals, context, log, hints, chat };
}

export function moved(now: Situation, event: Event): Situation {
  switch (event.kind) {
    case "opened": {
      const others = now.proposals.filter(({ id }) => id !== event.data.id);
      return { ...now, proposals: [...others, event.data] };
    }
    case "closed":
      return { ...now, proposals: now.proposals.filter(({ id }) => id !== event.data.id) };
    case "sessions":
      return { ...now, sessions: event.data };
    case "context":
      return { ...now, context: event.data };
    case "log": {
      // An entry that comes again has only grown.
      const others = now.log.filter(({ seq }) => seq !== event.data.seq);
      return { ...now, log: [...others, event.data].slice(-LONGEST_LOG) };
    }
    default:
      return now;
  }
}

/** The proposal that comes into the place of one that is not there any more. */
export function successor(
  before: readonly Proposal[],
  now: readonly Proposal[],
  gone: number,
): number | undefined {
  const index = before.findIndex(({ id }) => id === gone);
  const there = new Set(now.map(({ id }) => id));
  const later = before.slice(index + 1).find(({ id }) => there.has(id));
  return (later ?? now.at(-1))?.id;
}
