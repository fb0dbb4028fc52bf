/**
 * A browser opens six connections to one address and no more, over all its tabs, and a
 * stream holds one for as long as it is open: with six tabs that listen, nothing else
 * would get through. So only some tabs listen at a time. One that is looked at takes
 * the turn of another; one that is hidden waits.
 */

const TURNS = 4;

/** How often a hidden tab looks for a free turn. */
const PATIENCE = 15_000;

export interface Turn {
  /** Fires when another tab has taken the turn. */
  readonly lost: AbortSignal;
  release(): void;
}

/** Waits for a turn. */
export async function takeTurn(): Promise<Turn> {
  // Without locks, which a page from another machine does not have, everybody listens.
  if (navigator.locks === undefined) {
    return { lost: new AbortController().signal, release: () => {} };
  }
  for (;;) {
    for (let place = 0; place < TURNS; place += 1) {
      const turn = await request(place, { ifAvailable: true });
      if (turn !== undefined) return turn;
    }
    if (document.visibilityState === "visible") {
      const taken = await request(Math.floor(Math.random() * TURNS), { steal: true });
      if (taken !== undefined) return taken;
    }
    await shown();
  }
}

function request(place: number, options: LockOptions): Promise<Turn | undefined> {
  const lost = new AbortController();
  return new Promise((resolve) => {
    const held = navigator.locks.request(`stream ${place}`, options, (lock) => {
      if (lock === null) {
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

/** Returns when the tab is looked at, or after a while. */
function shown(): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, PATIENCE);
    document.addEventListener("visibilitychange", done);
    function done() {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", done);
      resolve();
    }
  });
}
