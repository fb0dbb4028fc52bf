/**
 * Follows the companion's event stream: a snapshot first, then event by event.
 *
 * A connection that breaks is resumed after the last event. If the server does not
 * have that event any more, or this page fell behind, the server sends another
 * snapshot. It replaces everything that was known.
 */

import { delay } from "./backoff";
import { ApiError, type Client } from "./client";
import { type SseEvent, SseParser } from "./sse";
import { acquireStreamSlot } from "./stream-slot";
import type { Event, EventData, Snapshot } from "./wire";

/** The server sends something at least every 15 seconds; after this long the stream is given up. */
const SILENCE = 40_000;

/** Events of other kinds are ignored, so that a newer server can send more. */
const KINDS: Record<keyof EventData, true> = {
  opened: true,
  changed: true,
  revised: true,
  closed: true,
  sessions: true,
  faults: true,
  editors: true,
  context: true,
  log: true,
  chat: true,
  ending: true,
};

export interface EventHandlers {
  /** A new state replaces everything: on a stream that does not resume, and after falling behind. */
  snapshot(snapshot: Snapshot): void;
  /** The events since then, as many as arrived at once. */
  events(events: Event[]): void;
  /** Whether the stream is open. */
  connected(yes: boolean): void;
  /** The key is not valid any more. */
  locked(): void;
}

/** Follows the stream for as long as the key is valid. */
export async function followEvents(client: Client, handlers: EventHandlers): Promise<void> {
  const position = new Position();
  for (let failures = 0; ; failures += 1) {
    try {
      for await (const arrived of readStream(client, position.last)) {
        if (arrived === "open") {
          failures = 0;
          // Without a snapshot there is nothing to show yet; the first one completes the connection.
          if (position.last !== undefined) handlers.connected(true);
        } else {
          deliver(arrived, position, handlers);
        }
      }
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) {
        handlers.locked();
        return;
      }
    }
    handlers.connected(false);
    await new Promise((resolve) => setTimeout(resolve, delay(failures, Math.random())));
  }
}

/** Hands over what arrived at once. Events before a snapshot are contained in it. */
function deliver(arrived: readonly SseEvent[], position: Position, handlers: EventHandlers): void {
  const latest = arrived.findLastIndex(({ event }) => event === "snapshot");
  const found = arrived[latest];
  if (found !== undefined) {
    const isFirst = position.last === undefined;
    const snapshot = JSON.parse(found.data) as Snapshot;
    position.restart(snapshot);
    handlers.snapshot(snapshot);
    if (isFirst) handlers.connected(true);
  }
  const events = arrived
    .slice(latest + 1)
    .filter(({ id, event }) => position.advance(id) && Object.hasOwn(KINDS, event))
    .map(({ event, data }) => ({ kind: event, data: JSON.parse(data) }) as Event);
  if (events.length > 0) handlers.events(events);
}

/** The last event that is known, as `INSTANCE:NUMBER`. */
export class Position {
  last: string | undefined;

  /** Continues at a snapshot, whatever was known before. */
  restart({ instance, number }: Snapshot): void {
    this.last = `${instance}:${number}`;
  }

  /** Whether the event `id` is new. An event up to the number of the snapshot is not. */
  advance(id: string | undefined): boolean {
    if (id === undefined) return true;
    const [instance, number] = split(id);
    const [known, newest] = split(this.last ?? "");
    if (instance === known && number <= newest) return false;
    this.last = id;
    return true;
  }
}

function split(id: string): [string, number] {
  const colon = id.lastIndexOf(":");
  return [id.slice(0, colon), Number(id.slice(colon + 1))];
}

/** Opens one stream: `"open"` once the server has answered, then what arrives, read by read. */
async function* readStream(
  client: Client,
  last: string | undefined,
): AsyncGenerator<SseEvent[] | "open", void> {
  const slot = await acquireStreamSlot();
  const silence = new AbortController();
  const end = AbortSignal.any([silence.signal, slot.lost]);
  let timer = setTimeout(() => silence.abort(), SILENCE);
  try {
    const stream = await client.events(last, end);
    yield "open";
    const parser = new SseParser();
    const decoder = new TextDecoder();
    const reader = stream.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENCE);
      yield parser.push(decoder.decode(value, { stream: true }));
    }
  } finally {
    clearTimeout(timer);
    silence.abort();
    slot.release();
  }
}
