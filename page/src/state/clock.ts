/** The time, as often as "5 min ago" needs it. */

import { signal } from "@preact/signals";

export const clock = signal(Date.now());

setInterval(() => {
  clock.value = Date.now();
}, 30_000);
