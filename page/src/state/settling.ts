/**
 * Decisions wait for a moment after something new has come to the screen. Otherwise the
 * second of two quick key presses, or of two clicks, would decide what nobody has seen.
 */

import { signal } from "@preact/signals";

/** How long, in milliseconds; the style sheets use the same time. */
export const SETTLE = 600;

export class Settling {
  /** What has been on the screen for long enough. */
  private readonly settled = signal<object | undefined>(undefined);
  private coming: object | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** `what` is on the screen now. The same object again, after a visit to another view, is not new. */
  begin(what: object): void {
    if (what === this.coming) return;
    this.coming = what;
    this.settled.value = undefined;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.settled.value = what;
    }, SETTLE);
  }

  isSettled(what: object): boolean {
    return this.settled.value === what;
  }
}
