import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { SETTLE, Settling } from "../src/state/settling";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("what has just come to the screen", () => {
  it("is not to be decided for a moment", () => {
    const settling = new Settling();
    const [one, other] = [{}, {}];
    settling.begin(one);
    expect(settling.isSettled(one)).toBe(false);
    vi.advanceTimersByTime(SETTLE);
    expect(settling.isSettled(one)).toBe(true);
    settling.begin(other);
    expect([settling.isSettled(one), settling.isSettled(other)]).toEqual([false, false]);
    vi.advanceTimersByTime(SETTLE - 1);
    expect(settling.isSettled(other)).toBe(false);
  });

  it("does not count as new when it is drawn again", () => {
    const settling = new Settling();
    const one = {};
    settling.begin(one);
    vi.advanceTimersByTime(SETTLE);
    settling.begin(one);
    expect(settling.isSettled(one)).toBe(true);
  });
});
