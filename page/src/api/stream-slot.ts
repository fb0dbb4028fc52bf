/**
 * Limits how many tabs hold an event stream.
 *
 * A browser opens at most six connections to one address, over all its tabs, and a
 * stream holds one for as long as it is open: with six streams no other request would
 * get through. So there are four slots, which are Web Locks. A tab that becomes visible
 * takes the slot of another one; a hidden tab waits for a free slot.
 */

const SLOTS = 4;

/** How often a hidden tab looks for a free slot, in milliseconds. */
const RETRY_AFTER = 15_000;

export interface StreamSlot {
  /** Fires when another tab has taken the slot. */
  readonly lost: AbortSignal;
  release(): void;
}

/** Waits for a slot. */
export async function acquireStreamSlot(): Promise<StreamSlot> {
  // Browsers have locks only in a secure context. A page from another machine is none, and is not limited.
  if (navigator.locks === undefined) {
    return { lost: new AbortController().signal, release: () => {} };
  }
  for (;;) {
    for (let slot = 0; slot < SLOTS; slot += 1) {
      const free = await lock(slot, { ifAvailable: true });
      if (free !== undefined) return free;
    }
    if (document.visibilityState === "visible") {
      const stolen = await lock(Math.floor(Math.random() * SLOTS), { steal: true });
      if (stolen !== undefined) return stolen;
    }
    await visibilityChange();
  }
}

function lock(slot: number, options: LockOptions): Promise<StreamSlot | undefined> {
  const lost = new AbortController();
  return new Promise((resolve) => {
    const held = navigator.locks.request(`stream ${slot}`, options, (granted) => {
      if (granted === null) {
        resolve(undefined);
        return undefined;
      }
      return new Promise<void>((release) => resolve({ lost: lost.signal, release }));
    });
    held.catch(() => {
      lost.abort();
      resolve(undefined);
    });
  });
}

/** Returns when the tab is shown or hidden, or after a while. */
function visibilityChange(): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, RETRY_AFTER);
    document.addEventListener("visibilitychange", done);
    function done() {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", done);
      resolve();
    }
  });
}
