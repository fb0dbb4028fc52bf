/** What the person is about to complete in what they type, and what it becomes. Pure. */

export interface Completing {
  kind: "file" | "command";
  /** What was typed of it. */
  typed: string;
  /** Where it stands in the text, with its sign. */
  from: number;
  to: number;
}

/** `@` at the start of a word names a file; `/` at the very start is a command. */
export function completingAt(text: string, caret: number): Completing | undefined {
  const before = text.slice(0, caret);
  const command = /^\/([^\s/]*)$/.exec(before);
  if (command !== null) return { kind: "command", typed: command[1] ?? "", from: 0, to: caret };
  const file = /(?:^|\s)@([^\s@]*)$/.exec(before);
  if (file === null) return undefined;
  const typed = file[1] ?? "";
  return { kind: "file", typed, from: caret - typed.length - 1, to: caret };
}

/** The text with what was chosen in it, and where the caret is then. */
export function completed(
  text: string,
  { kind, from, to }: Completing,
  chosen: string,
): { text: string; caret: number } {
  const rest = text.slice(to);
  const space = rest.startsWith(" ") ? "" : " ";
  const word = `${kind === "command" ? "/" : ""}${chosen}${space}`;
  return { text: text.slice(0, from) + word + rest, caret: from + word.length };
}

/** Commands whose name holds what was typed; those that begin with it first. */
export function commandsFor<T extends readonly [name: string, ...rest: unknown[]]>(
  commands: readonly T[],
  typed: string,
): T[] {
  const wanted = typed.toLowerCase();
  const place = ([name]: T) => name.toLowerCase().indexOf(wanted);
  return commands
    .filter((command) => place(command) >= 0)
    .sort((one, other) => Number(place(one) > 0) - Number(place(other) > 0));
}

/** What was said before, browsed with the arrow keys. */
export class History {
  private at: number | undefined;

  constructor(private readonly said: () => readonly string[]) {}

  /** What was said before or after what is shown, if the person is browsing or may begin to. */
  go(step: -1 | 1, shown: string): string | undefined {
    const all = this.said();
    const at = this.at ?? all.length;
    if (shown !== "" && shown !== all[at]) return undefined;
    const next = at + step;
    if (next < 0 || next > all.length) return undefined;
    this.at = next === all.length ? undefined : next;
    return all[next] ?? "";
  }

  leave(): void {
    this.at = undefined;
  }
}
