/** The current time, updated often enough for "5 min ago". */

import { signal } from "@preact/signals";

export const clock = signal(Date.now());

setInterval(() => {
  clock.value = Date.now();
}, 30_000);
