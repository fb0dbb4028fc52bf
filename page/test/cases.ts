import { ChangeSet, Text } from "@codemirror/state";

/** A small generator, so that a failing case can be run again from its number. */
export class Random {
  constructor(private state: number) {}

  below(limit: number): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % limit;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }

  /** A text of few different lines, with or without an end. */
  text(lines: number, endings: readonly string[] = ["\n"]): string {
    let text = "";
    const count = this.below(lines + 1);
    for (let line = 0; line < count; line += 1) {
      text += this.pick(["", "a", "b", "}", "let x = 1;", "é😀"]) + this.pick(endings);
    }
    return this.below(3) === 0 ? `${text}end` : text;
  }
}

/** Runs a property for many cases and names the one that fails. */
export function forEachCase(cases: number, property: (random: Random) => void): void {
  for (let seed = 1; seed <= cases; seed += 1) {
    try {
      property(new Random(seed));
    } catch (error) {
      throw new Error(`case ${seed} failed`, { cause: error });
    }
  }
}

export const textOf = (text: string) => Text.of(text.split("\n"));

/** A few random edits at once. */
export function someChanges(random: Random, length: number): ChangeSet {
  const specs: { from: number; to: number; insert: string }[] = [];
  for (let edits = 1 + random.below(3); edits > 0; edits -= 1) {
    const from = random.below(length + 1);
    const to = random.below(2) === 0 ? from : Math.min(length, from + random.below(12));
    specs.push({ from, to, insert: random.pick(["", "x", "\n", "a\n", "b\na\n", "\nb"]) });
  }
  specs.sort((one, other) => one.from - other.from);
  const apart = specs.filter(
    (spec, index) => index === 0 || spec.from > (specs[index - 1]?.to ?? 0),
  );
  return ChangeSet.of(apart, length, "\n");
}
