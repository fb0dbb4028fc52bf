import { describe, expect, it } from "vitest";
import { delay } from "../src/api/backoff";
import { Position } from "../src/api/feed";
import { FrameReader } from "../src/api/sse";

const STREAM =
  ': hello\n\nid: ab:1\nevent: opened\ndata: {"id":3}\n\nevent: log\r\ndata:x\r\ndata: y\r\n\r\nid\ndata\n\n';

const FRAMES = [
  { id: "ab:1", event: "opened", data: '{"id":3}' },
  { id: undefined, event: "log", data: "x\ny" },
  { id: "", event: "message", data: "" },
];

describe("frames", () => {
  it("come out whole, wherever the stream is cut", () => {
    for (let cut = 0; cut <= STREAM.length; cut += 1) {
      const reader = new FrameReader();
      const frames = [...reader.push(STREAM.slice(0, cut)), ...reader.push(STREAM.slice(cut))];
      expect(frames).toEqual(FRAMES);
    }
  });

  it("come out of single characters", () => {
    const reader = new FrameReader();
    expect([...STREAM].flatMap((character) => reader.push(character))).toEqual(FRAMES);
  });
});

describe("position", () => {
  it("knows what is news", () => {
    const position = new Position();
    const ids = ["a:5", "a:5", "a:4", "a:6", "b:1", undefined];
    expect(ids.map((id) => position.take(id))).toEqual([true, false, false, true, true, true]);
    expect(position.last).toBe("b:1");
  });
});

describe("waiting", () => {
  it("doubles up to a limit, half of it by chance", () => {
    expect([0, 1, 2, 99].map((failures) => delay(failures, 1))).toEqual([400, 800, 1_600, 10_000]);
    expect(delay(0, 0)).toBe(200);
  });
});
