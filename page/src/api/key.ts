/**
 * The key of this tab.
 *
 * A link carries a ticket in its fragment, which no server and no log sees and
 * which is worth nothing once it was used. The key that it is traded for stays in
 * this tab's session storage: that is kept apart by origin, and the port is part
 * of an origin, while a cookie would go to every server on this host.
 */

import { redeem } from "./client";

const NAME = "outrigger.key";

/** The key, from the link or from before; undefined if this tab has none. */
export async function obtainKey(): Promise<string | undefined> {
  const ticket = location.hash.slice(1);
  if (ticket === "") return sessionStorage.getItem(NAME) ?? undefined;
  history.replaceState(null, "", location.pathname);
  try {
    const key = await redeem(ticket);
    sessionStorage.setItem(NAME, key);
    return key;
  } catch (error) {
    // Somebody who follows an old link in a tab that is let in already stays in.
    const kept = sessionStorage.getItem(NAME);
    if (kept === null) throw error;
    return kept;
  }
}

export function forgetKey(): void {
  sessionStorage.removeItem(NAME);
}
