/** Readings of proposals, at most one of each at a time: two at once would each take over a text. */

export class Readings {
  private readonly running = new Map<number, { isOutdated: boolean }>();

  /**
   * Reads a proposal. If it is being read already, that is done once more at the end, because
   * what comes first may be older than what this call is about.
   */
  async start(id: number, read: (isOutdated: () => boolean) => Promise<void>): Promise<void> {
    const running = this.running.get(id);
    if (running !== undefined) {
      running.isOutdated = true;
      return;
    }
    const reading = { isOutdated: false };
    this.running.set(id, reading);
    try {
      do {
        reading.isOutdated = false;
        await read(() => reading.isOutdated);
      } while (reading.isOutdated);
    } finally {
      this.running.delete(id);
    }
  }
}
