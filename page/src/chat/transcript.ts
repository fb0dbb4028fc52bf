/**
 * The entries of a conversation, in groups with signals of their own. A new entry or a new
 * word draws only its entry or its group, so it costs the same in a conversation of ten
 * entries as in one of ten thousand.
 */

import { computed, type Signal, signal } from "@preact/signals";
import type { Change, ChatEntry } from "./wire";

/** How many entries a group has at most. */
const GROUP = 25;

/** An entry that can change. */
export interface Slot {
  readonly id: number;
  readonly entry: Signal<ChatEntry>;
}

export interface Group {
  /** Stays the same for as long as the group exists. */
  readonly key: number;
  readonly slots: Signal<readonly Slot[]>;
}

export class Transcript {
  readonly groups = signal<readonly Group[]>([]);
  /** Increases whenever all entries are replaced or removed. */
  readonly beginning = signal(0);
  /** Whether older entries were not kept. */
  readonly shortened = signal(false);
  /** Whether anybody has said or done something. Notes of the program can come before that. */
  readonly hasBegun = computed(() =>
    this.groups.value.some(({ slots }) =>
      slots.value.some(({ entry }) => entry.peek().kind !== "note"),
    ),
  );
  private slots = new Map<number, Slot>();

  /** Replaces all entries. */
  replace(entries: readonly ChatEntry[], shortened: boolean): void {
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
  *entries(): Generator<ChatEntry> {
    for (const slot of this.slots.values()) yield slot.entry.peek();
  }

  private put(entry: ChatEntry): void {
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
