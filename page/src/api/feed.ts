/**
 * The situation of the companion, kept up to date: once as a whole, then event by
 * event. A connection that breaks is taken up where it stopped; if too much was
 * missed, the whole is fetched again.
 */

import type { Message } from "../chat/wire";
import { delay } from "./backoff";
import { type Client, Problem } from "./client";
import { type Frame, FrameReader } from "./sse";
import { takeTurn } from "./turn";
import type { Event, Live } from "./wire";

/** The companion says something every 15 seconds; this long without means it is gone. */
const SILENCE = 40_000;

export interface Listener {
  /** Everything, at the start and whenever events were missed. */
  whole(live: Live): void;
  /** What was announced since, as it came in: many at once after a pause. */
  events(events: Event[]): void;
  /** The next steps of the conversation with a daemon. */
  chat(messages: Message[]): void;
  connected(yes: boolean): void;
  /** The key is not valid any more. */
  locked(): void;
}

/** Follows the companion for as long as the key is valid. */
export async function follow(client: Client, listener: Listener): Promise<void> {
  const position = new Position();
  let chat: number | undefined;
  const fetchWhole = async () => {
    const live = await client.live();
    position.take(`${live.instance}:${live.seq}`);
    listener.whole(live);
  };

  for (let failures = 0; ; failures += 1) {
    try {
      if (position.last === undefined) await fetchWhole();
      for await (const frames of arrivals(client, position.last, chat)) {
        if (frames === "open") {
          failures = 0;
          listener.connected(true);
          continue;
        }
        // The conversation has its own numbers, and goes on whatever else was missed.
        const said = frames.filter(isChat).map(messageOf);
        chat = said.at(-1)?.data.seq ?? chat;
        if (said.length > 0) listener.chat(said);
        const reset = frames.findLastIndex((frame) => frame.event === "reset");
        if (reset >= 0) await fetchWhole();
        const rest = frames.slice(reset + 1).filter((frame) => !isChat(frame));
        const news = rest.filter((frame) => position.take(frame.id));
        listener.events(news.map(eventOf));
      }
    } catch (error) {
      if (error instanceof Problem && error.status === 401) {
        listener.locked();
        return;
      }
    }
    listener.connected(false);
    await new Promise((resolve) => setTimeout(resolve, delay(failures, Math.random())));
  }
}

/** The last announcement that is known, as `instance:number`. */
export class Position {
  last: string | undefined;

  /** Whether the announcement `id` is news. The whole may contain what is still on its way. */
  take(id: string | undefined): boolean {
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

function isChat(frame: Frame): boolean {
  return frame.event === "chat" || frame.event === "chat-all";
}

function messageOf(frame: Frame): Message {
  return { kind: frame.event, data: JSON.parse(frame.data) } as Message;
}

function eventOf(frame: Frame): Event {
  return { kind: frame.event, data: JSON.parse(frame.data) } as Event;
}

async function* arrivals(
  client: Client,
  last: string | undefined,
  chat: number | undefined,
): AsyncGenerator<Frame[] | "open", void> {
  const turn = await takeTurn();
  const silence = new AbortController();
  const end = AbortSignal.any([silence.signal, turn.lost]);
  let timer = setTimeout(() => silence.abort(), SILENCE);
  try {
    const stream = await client.events(last, chat, end);
    yield "open";
    const reader = new FrameReader();
    const decoder = new TextDecoder();
    const pieces = stream.getReader();
    for (;;) {
      const { done, value } = await pieces.read();
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENCE);
      yield reader.push(decoder.decode(value, { stream: true }));
    }
  } finally {
    clearTimeout(timer);
    silence.abort();
    turn.release();
  }
}
