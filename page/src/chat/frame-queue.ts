/**
 * Collects values and hands them over once per animation frame, however fast they come.
 * A hidden tab has no frames, so a timer runs beside them.
 */

/** The longest time to the next delivery, in milliseconds. */
const LONGEST_WAIT = 250;

export class FrameQueue<T> {
  private waiting: T[] = [];
  private frame = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly deliver: (all: readonly T[]) => void) {}

  push(value: T): void {
    this.waiting.push(value);
    if (this.waiting.length > 1) return;
    this.frame = requestAnimationFrame(() => this.flush());
    this.timer = setTimeout(() => this.flush(), LONGEST_WAIT);
  }

  private flush(): void {
    cancelAnimationFrame(this.frame);
    clearTimeout(this.timer);
    const all = this.waiting;
    this.waiting = [];
    this.deliver(all);
  }
}
