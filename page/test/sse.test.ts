import { describe, expect, it } from "vitest";
import { delay } from "../src/api/backoff";
import { SseParser } from "../src/api/sse";

const STREAM =
  ': hello\n\nid: ab:1\nevent: opened\ndata: {"id":3}\n\nevent: log\r\ndata:x\r\ndata: y\r\n\r\nid\ndata\n\n';

const EVENTS = [
  { id: "ab:1", event: "opened", data: '{"id":3}' },
  { id: undefined, event: "log", data: "x\ny" },
  { id: "", event: "message", data: "" },
];

describe("server-sent events", () => {
  it("come out whole, wherever the stream is cut", () => {
    for (let cut = 0; cut <= STREAM.length; cut += 1) {
      const parser = new SseParser();
      const events = [...parser.push(STREAM.slice(0, cut)), ...parser.push(STREAM.slice(cut))];
      expect(events).toEqual(EVENTS);
    }
  });

  it("come out of single characters", () => {
    const parser = new SseParser();
    expect([...STREAM].flatMap((character) => parser.push(character))).toEqual(EVENTS);
  });
});

describe("the delay", () => {
  it("doubles up to a limit, half of it by chance", () => {
    expect([0, 1, 2, 99].map((failures) => delay(failures, 1))).toEqual([400, 800, 1_600, 10_000]);
    expect(delay(0, 0)).toBe(200);
  });
});
