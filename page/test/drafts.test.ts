import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ApiError, type Client } from "../src/api/client";
import type { Drafted } from "../src/api/wire";
import { Drafts } from "../src/state/drafts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Drafts with a companion that answers when it is told to. */
function setUp() {
  const sent: string[] = [];
  const waiting: { yes: () => void; no: (problem: ApiError) => void }[] = [];
  const client = {
    draft: (_id: number, content: string) => {
      sent.push(content);
      return new Promise<Drafted>((resolve, reject) => {
        waiting.push({ yes: () => resolve({ hunksAt: [] }), no: reject });
      });
    },
  } as unknown as Client;
  const answered = vi.fn();
  const gone = vi.fn();
  const drafts = new Drafts(client, answered, gone);
  const put = (text: string) => drafts.put(1, 1, () => text, text.length);
  const answer = async (act: "yes" | ApiError) => {
    const next = waiting.shift();
    if (act === "yes") next?.yes();
    else next?.no(act);
    await vi.advanceTimersByTimeAsync(0);
  };
  return { sent, drafts, put, answer, answered, gone };
}

describe("drafts", () => {
  it("are sent once the person pauses", async () => {
    const { sent, drafts, put, answer, answered } = setUp();
    put("a");
    await vi.advanceTimersByTimeAsync(150);
    put("ab");
    expect(drafts.isPending(1)).toBe(true);
    await vi.advanceTimersByTimeAsync(250);
    expect(sent).toEqual(["ab"]);
    await answer("yes");
    expect(drafts.isPending(1)).toBe(false);
    expect(answered).toHaveBeenCalledOnce();
  });

  it("are sent one at a time, and the last one stays", async () => {
    const { sent, put, answer, answered } = setUp();
    put("a");
    await vi.advanceTimersByTimeAsync(250);
    put("b");
    await vi.advanceTimersByTimeAsync(1_000);
    expect(sent).toEqual(["a"]);
    await answer("yes");
    expect(answered).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(250);
    await answer("yes");
    expect(sent).toEqual(["a", "b"]);
    expect(answered).toHaveBeenCalledOnce();
  });

  it("are sent again until the companion takes them", async () => {
    const { sent, drafts, put, answer } = setUp();
    put("a");
    await vi.advanceTimersByTimeAsync(250);
    await answer(new ApiError(0, "unreachable", ""));
    expect(drafts.isPending(1)).toBe(true);
    await vi.advanceTimersByTimeAsync(2_500);
    await answer("yes");
    expect(sent).toEqual(["a", "a"]);
    expect(drafts.isPending(1)).toBe(false);
  });

  it("end with their proposal", async () => {
    const { sent, drafts, put, answer, gone } = setUp();
    put("a");
    await vi.advanceTimersByTimeAsync(250);
    await answer(new ApiError(404, "not_found", ""));
    expect(gone).toHaveBeenCalledExactlyOnceWith(1);
    put("b");
    drafts.forget(1);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(sent).toEqual(["a"]);
  });

  it("tell their own echo from somebody else's draft", async () => {
    const { drafts, put, answer } = setUp();
    expect(drafts.isForeign(1)).toBe(true);
    put("a");
    await vi.advanceTimersByTimeAsync(250);
    await answer("yes");
    expect([drafts.isForeign(1), drafts.isForeign(1)]).toEqual([false, true]);
  });
});
