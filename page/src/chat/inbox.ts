/**
 * What arrives is taken in once per frame, however fast it comes. A tab that is not
 * shown has no frames, so a slow clock runs beside them.
 */

const SLOWEST = 250;

export class Inbox<T> {
  private waiting: T[] = [];
  private frame = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly take: (all: readonly T[]) => void) {}

  push(some: readonly T[]): void {
    const idle = this.waiting.length === 0;
    for (const one of some) this.waiting.push(one);
    if (!idle || this.waiting.length === 0) return;
    this.frame = requestAnimationFrame(() => this.drain());
    this.timer = setTimeout(() => this.drain(), SLOWEST);
  }

  private drain(): void {
    cancelAnimationFrame(this.frame);
    clearTimeout(this.timer);
    const all = this.waiting;
    this.waiting = [];
    this.take(all);
  }
}
