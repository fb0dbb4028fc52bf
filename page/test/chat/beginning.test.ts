import { beforeEach, describe, expect, it } from "vitest";
import type { Client } from "../../src/api/client";
import { Beginning } from "../../src/chat/beginning";
import { Chat } from "../../src/chat/chat";
import { StatusBar } from "../../src/chat/status-bar";
import type { ChatEntry, DaemonConnection } from "../../src/chat/wire";
import { seen } from "../seen";

const SENTENCES = ["It runs on <b>elm\u202e</b>, in /w.", "So do its files."];
const ENTRY: ChatEntry = { id: 1, kind: "said", speaker: "me", text: "hello" };

describe("the beginning of a conversation", () => {
  let chat: Chat;

  beforeEach(() => {
    chat = new Chat({} as Client, () => {});
    be("live");
  });

  /** The state of the connection to a daemon whose place is known. */
  function be(state: Exclude<DaemonConnection["state"], "lost" | "failed">): void {
    chat.status.value = {
      ...chat.status.peek(),
      connection: { state },
      place: { machine: "elm", workspace: { daemonPath: "/w" }, locality: SENTENCES },
    };
  }

  const text = () => seen(Beginning({ chat }));

  it("shows the companion's sentences about where the agent works, open and as text", () => {
    expect(text()).toContain("It runs on <b>elm⟨202E⟩</b>, in /w.");
    expect(text()).toContain("So do its files.");
    expect(text()).toContain("Write what you want done.");
  });

  it("shows them as soon as a prompt can be sent, and while the connection is away", () => {
    for (const state of ["catchingUp", "reconnecting"] as const) {
      be(state);
      expect(text()).toContain("So do its files.");
      expect(text()).not.toContain("Write what you want done.");
    }
  });

  it("shows nothing about a place that is not known", () => {
    const { place: _, ...status } = chat.status.peek();
    chat.status.value = status;
    expect(text()).toMatch(/^Write what you want done\./);
  });

  it("shows them until the first entry, and again in a new conversation", () => {
    chat.transcript.apply({ change: "put", entry: ENTRY });
    expect(text()).toBe("");
    chat.transcript.apply({ change: "clear" });
    expect(text()).toContain("So do its files.");
    chat.transcript.replace([ENTRY], false);
    expect(text()).toBe("");
    chat.transcript.replace([], false);
    expect(text()).toContain("So do its files.");
  });

  it("shows them beside what only the program has noted", () => {
    chat.transcript.apply({ change: "put", entry: { id: 1, kind: "note", text: "By the way." } });
    expect(text()).toContain("So do its files.");
    chat.transcript.apply({ change: "put", entry: { ...ENTRY, id: 2 } });
    expect(text()).toBe("");
  });

  it("leaves the line in the status bar as it is", () => {
    for (const entries of [[], [ENTRY]]) {
      chat.transcript.replace(entries, false);
      const head = seen(StatusBar({ chat, list: () => {} }));
      expect(head).toContain("Runs on elm in /w");
      expect(head).not.toContain("So do its files.");
    }
  });
});
