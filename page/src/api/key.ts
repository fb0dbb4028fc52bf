/**
 * The API key of this tab.
 *
 * A link carries a ticket in its fragment, which reaches no server and no log and is
 * valid once. The key that it is exchanged for stays in the session storage of this tab.
 * Storage is separate for each origin, and the port is part of an origin, while a cookie
 * would go to every server on this host.
 */

import { redeem } from "./client";

const NAME = "outrigger.key";

/** The key, from the link or from the storage; undefined if this tab has none. */
export async function obtainKey(): Promise<string | undefined> {
  const ticket = location.hash.slice(1);
  if (ticket === "") return sessionStorage.getItem(NAME) ?? undefined;
  history.replaceState(null, "", location.pathname);
  try {
    const key = await redeem(ticket);
    sessionStorage.setItem(NAME, key);
    return key;
  } catch (error) {
    // An old link in a tab that has a key already does no harm.
    const stored = sessionStorage.getItem(NAME);
    if (stored === null) throw error;
    return stored;
  }
}

export function forgetKey(): void {
  sessionStorage.removeItem(NAME);
}
