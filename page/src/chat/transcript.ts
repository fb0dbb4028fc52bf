/**
 * What was said and done, in groups, so that a new entry or a new word costs the same
 * in a conversation of ten as in one of ten thousand: only the entry that changed, or
 * the group that grew, is told to the screen.
 */

import { type Signal, signal } from "@preact/signals";
import type { Change, Entry } from "./wire";

/** How many entries are in a group. */
const GROUP = 25;

/** An entry as it is now. */
export interface Slot {
  readonly id: number;
  readonly entry: Signal<Entry>;
}

export interface Group {
  /** Stays the same for as long as the group exists. */
  readonly key: number;
  readonly slots: Signal<readonly Slot[]>;
}

export class Transcript {
  readonly groups = signal<readonly Group[]>([]);
  /** Is another number after all of it was replaced. */
  readonly beginning = signal(0);
  /** Older entries were not kept. */
  readonly shortened = signal(false);
  private slots = new Map<number, Slot>();

  /** Everything anew. */
  replace(entries: readonly Entry[], shortened: boolean): void {
    this.clear();
    this.shortened.value = shortened;
    const slots = entries.map((entry) => ({ id: entry.id, entry: signal(entry) }));
    this.slots = new Map(slots.map((slot) => [slot.id, slot]));
    this.groups.value = grouped(slots);
  }

  apply(change: Change): void {
    if (change.change === "put") this.put(change.entry);
    else if (change.change === "append") this.append(change.id, change.text);
    else if (change.change === "shorten") this.shorten(change.first);
    else if (change.change === "clear") this.clear();
  }

  /** All entries, oldest first. */
  *entries(): Generator<Entry> {
    for (const slot of this.slots.values()) yield slot.entry.peek();
  }

  private put(entry: Entry): void {
    const known = this.slots.get(entry.id);
    if (known !== undefined) {
      known.entry.value = entry;
      return;
    }
    const slot = { id: entry.id, entry: signal(entry) };
    this.slots.set(entry.id, slot);
    const last = this.groups.peek().at(-1);
    if (last !== undefined && last.slots.peek().length < GROUP) {
      last.slots.value = [...last.slots.peek(), slot];
    } else {
      this.groups.value = [...this.groups.peek(), groupOf([slot])];
    }
  }

  private append(id: number, text: string): void {
    const slot = this.slots.get(id);
    const entry = slot?.entry.peek();
    if (slot === undefined || entry?.kind !== "said") return;
    slot.entry.value = { ...entry, text: entry.text + text };
  }

  private shorten(first: number): void {
    this.shortened.value = true;
    for (const id of this.slots.keys()) {
      if (id >= first) break;
      this.slots.delete(id);
    }
    const kept = this.groups
      .peek()
      .filter((group) => (group.slots.peek().at(-1)?.id ?? 0) >= first);
    if (kept.length !== this.groups.peek().length) this.groups.value = kept;
    const oldest = kept[0];
    const slots = oldest?.slots.peek() ?? [];
    if (oldest !== undefined && (slots[0]?.id ?? first) < first) {
      oldest.slots.value = slots.filter(({ id }) => id >= first);
    }
  }

  private clear(): void {
    this.beginning.value += 1;
    this.slots = new Map();
    this.groups.value = [];
    this.shortened.value = false;
  }
}

function grouped(slots: readonly Slot[]): Group[] {
  const groups: Group[] = [];
  for (let start = 0; start < slots.length; start += GROUP) {
    groups.push(groupOf(slots.slice(start, start + GROUP)));
  }
  return groups;
}

function groupOf(slots: readonly Slot[]): Group {
  return { key: slots[0]?.id ?? 0, slots: signal(slots) };
}
