import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Client } from "../src/api/client";
import { followEvents, Position } from "../src/api/events";

describe("position", () => {
  it("knows what is news", () => {
    const position = new Position();
    const ids = ["a:5", "a:5", "a:4", "a:6", "b:1", undefined];
    expect(ids.map((id) => position.advance(id))).toEqual([true, false, false, true, true, true]);
    expect(position.last).toBe("b:1");
  });
});

const event = (id: string, name: string, data: unknown = {}) =>
  `id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`;

const snapshot = (instance: string, number: number) =>
  event(`${instance}:${number}`, "snapshot", { instance, number });

const closed = (id: string, proposal: number) =>
  event(id, "closed", { id: proposal, why: "accepted" });

/** One connection: what the server sends, read by read, before it closes the stream. */
type Connection = string[];

describe("following the stream", () => {
  beforeEach(() => {
    vi.useFakeTimers();
    // Without locks every tab has a stream.
    vi.stubGlobal("navigator", {});
  });

  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  /** Follows these connections and then one with a key that is not valid; says what happened. */
  async function follow(connections: readonly Connection[]): Promise<string[]> {
    const happened: string[] = [];
    const waiting = [...connections];
    vi.stubGlobal("fetch", (path: string, { headers }: { headers: Headers }) => {
      happened.push(`GET ${path} ${headers.get("Last-Event-ID") ?? "from the start"}`);
      const reads = waiting.shift();
      return Promise.resolve(
        reads === undefined
          ? new Response("{}", { status: 401 })
          : new Response(streamOf(reads), { status: 200 }),
      );
    });
    const following = followEvents(new Client("key"), {
      snapshot: ({ instance, number }) => happened.push(`snapshot ${instance}:${number}`),
      events: (events) =>
        happened.push(events.map(({ kind, data }) => `${kind} ${JSON.stringify(data)}`).join(", ")),
      connected: (yes) => happened.push(yes ? "connected" : "disconnected"),
      locked: () => happened.push("locked"),
    });
    await vi.runAllTimersAsync();
    await following;
    return happened;
  }

  function streamOf(reads: readonly string[]): ReadableStream<Uint8Array> {
    const encoder = new TextEncoder();
    return new ReadableStream({
      start(controller) {
        for (const read of reads) controller.enqueue(encoder.encode(read));
        controller.close();
      },
    });
  }

  it("is connected with the first snapshot, and resumes after the last event", async () => {
    const first = [": hello\n\n", snapshot("a", 4), closed("a:5", 1) + closed("a:6", 2)];
    expect(await follow([first, [closed("a:7", 3)]])).toEqual([
      "GET /api/events from the start",
      "snapshot a:4",
      "connected",
      'closed {"id":1,"why":"accepted"}, closed {"id":2,"why":"accepted"}',
      "disconnected",
      "GET /api/events a:6",
      "connected",
      'closed {"id":3,"why":"accepted"}',
      "disconnected",
      "GET /api/events a:7",
      "locked",
    ]);
  });

  it("takes a snapshot for everything before it, and drops what it contains", async () => {
    const behind = closed("a:2", 2) + snapshot("a", 9) + closed("a:9", 9) + closed("a:10", 10);
    expect(await follow([[snapshot("a", 1), behind]])).toEqual([
      "GET /api/events from the start",
      "snapshot a:1",
      "connected",
      "snapshot a:9",
      'closed {"id":10,"why":"accepted"}',
      "disconnected",
      "GET /api/events a:10",
      "locked",
    ]);
  });

  it("starts over with the snapshot of another instance, whatever its number", async () => {
    expect(await follow([[snapshot("a", 50)], [snapshot("b", 2), closed("b:3", 1)]])).toEqual([
      "GET /api/events from the start",
      "snapshot a:50",
      "connected",
      "disconnected",
      "GET /api/events a:50",
      "connected",
      "snapshot b:2",
      'closed {"id":1,"why":"accepted"}',
      "disconnected",
      "GET /api/events b:3",
      "locked",
    ]);
  });

  it("ignores events of a kind that it does not know", async () => {
    const unknown = event("a:2", "invented") + event("a:3", "toString");
    const ending = event("a:4", "ending", { why: "stopped" });
    expect(await follow([[snapshot("a", 1), unknown, ending]])).toEqual([
      "GET /api/events from the start",
      "snapshot a:1",
      "connected",
      'ending {"why":"stopped"}',
      "disconnected",
      "GET /api/events a:4",
      "locked",
    ]);
  });

  it("gives up a stream that is silent for too long", async () => {
    const silent = new ReadableStream<Uint8Array>();
    let aborted = false;
    let requests = 0;
    vi.stubGlobal("fetch", (_path: string, { signal }: { signal: AbortSignal }) => {
      requests += 1;
      if (requests > 1) return Promise.resolve(new Response("{}", { status: 401 }));
      signal.addEventListener("abort", () => {
        aborted = true;
      });
      const body = silent.pipeThrough(new TransformStream(), { signal });
      return Promise.resolve(new Response(body, { status: 200 }));
    });
    const locked = vi.fn();
    const handlers = { snapshot: vi.fn(), events: vi.fn(), connected: vi.fn(), locked };
    const following = followEvents(new Client("key"), handlers);
    await vi.advanceTimersByTimeAsync(39_000);
    expect(aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(12_000);
    expect(aborted).toBe(true);
    await following;
    expect(locked).toHaveBeenCalledOnce();
  });
});
