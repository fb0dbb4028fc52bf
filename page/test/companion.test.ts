import { describe, expect, it } from "vitest";
import type { LogEntry, Proposal, Session, Snapshot } from "../src/api/wire";
import { applyEvent, companionStateOf, isConnected, successor } from "../src/state/companion";

const proposal = (id: number): Proposal => ({
  id,
  path: `/p/${id}`,
  agent: "qwen",
  who: "Qwen Code",
  session: "s",
  openedAt: 0,
  newFile: false,
  added: 1,
  removed: 1,
  hunks: 1,
  revision: 1,
  conflicts: 0,
  editable: true,
});

const entry = (number: number, times?: number): LogEntry => ({
  number,
  at: 0,
  kind: "context",
  ...(times && { times }),
});

const start = companionStateOf({
  instance: "a",
  status: { sessions: [], editors: [], roots: [], port: 7 },
  proposals: [proposal(1), proposal(2)],
  context: { paused: false, files: [], heldBack: [], bytes: 0 },
  log: [entry(1)],
} as unknown as Snapshot);

const ids = (list: readonly Proposal[]) => list.map(({ id }) => id);

describe("events", () => {
  it("open and close proposals, also when they come twice", () => {
    let now = applyEvent(start, { kind: "opened", data: proposal(3) });
    now = applyEvent(now, { kind: "opened", data: proposal(3) });
    expect(ids(now.proposals)).toEqual([1, 2, 3]);
    now = applyEvent(now, { kind: "closed", data: { id: 1, why: "accepted" } });
    now = applyEvent(now, { kind: "closed", data: { id: 1, why: "accepted" } });
    expect(ids(now.proposals)).toEqual([2, 3]);
  });

  it("name what closes folders, and what does no longer", () => {
    const fault = { source: "/p/.outrigger.toml", line: 1, column: 10, message: "no list" };
    let now = applyEvent(start, { kind: "faults", data: [fault] });
    expect(now.status.faults).toEqual([fault]);
    expect(now.status.roots).toEqual(start.status.roots);
    now = applyEvent(now, { kind: "faults", data: [] });
    expect(now.status.faults).toEqual([]);
  });

  it("name the editors that are in it now", () => {
    const editors = [{ name: "Neovim", pid: 7 }, { name: "Emacs" }];
    const now = applyEvent(start, { kind: "editors", data: { editor: "Emacs", editors } });
    expect(now.status).toEqual({ ...start.status, editor: "Emacs", editors });
    const left = { editor: "Outrigger", editors: [] };
    expect(applyEvent(now, { kind: "editors", data: left }).status.editors).toEqual([]);
  });

  it("replace a proposal that was revised, in its place", () => {
    const newer = { ...proposal(1), revision: 2, stale: "the file has changed" };
    let now = applyEvent(start, { kind: "revised", data: newer });
    expect(now.proposals).toEqual([newer, proposal(2)]);
    now = applyEvent(now, { kind: "closed", data: { id: 1, why: "accepted" } });
    now = applyEvent(now, { kind: "revised", data: newer });
    expect(ids(now.proposals)).toEqual([2]);
  });

  it("add to the log, or to its last entry", () => {
    let now = applyEvent(start, { kind: "log", data: entry(2) });
    now = applyEvent(now, { kind: "log", data: entry(2, 7) });
    expect(now.log).toEqual([entry(1), entry(2, 7)]);
  });

  it("keep the log as long as the companion's", () => {
    let now = start;
    for (let number = 2; number < 700; number += 1) {
      now = applyEvent(now, { kind: "log", data: entry(number) });
    }
    expect(now.log).toHaveLength(500);
    expect(now.log.at(-1)).toEqual(entry(699));
  });
});

describe("the chat", () => {
  it.each([
    [{ conversation: {} }, undefined, true, undefined],
    [{}, undefined, false, undefined],
    [{}, "wrong configuration", false, "wrong configuration"],
  ])("with %j and the mistake %s is there: %s, for the reason %s", (more, mistake, chat, why) => {
    const status = { ...start.status, ...(mistake && { noConversation: mistake }) };
    const now = companionStateOf({ ...start, status, ...more } as unknown as Snapshot);
    expect([now.chat, now.whyNoChat]).toEqual([chat, why]);
  });
});

describe("the next proposal", () => {
  it.each([
    [[1, 2, 3], [1, 3], 2, 3],
    [[1, 2, 3], [1, 2], 3, 2],
    [[1, 2, 3], [3], 1, 3],
    [[1], [], 1, undefined],
    [[1, 2, 3], [1, 4], 2, 4],
  ])("of %j is, with %j left and without %i, %s", (before, now, gone, next) => {
    expect(successor(before.map(proposal), now.map(proposal), gone)).toBe(next);
  });
});

describe("an agent", () => {
  it.each([
    [{ presence: "connected" }, true],
    [{ presence: "away" }, false],
    [{ presence: "gone" }, false],
  ])("that says %j is connected: %s", (session, connected) => {
    expect(isConnected(session as Session)).toBe(connected);
  });
});
