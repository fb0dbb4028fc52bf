/** Completion in the text of a prompt: what can be completed at the caret, and the text afterwards. Pure. */

export interface Completing {
  kind: "file" | "command";
  /** The part that was typed, without `@` or `/`. */
  typed: string;
  /** Its range in the text, with `@` or `/`. */
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

/** The text with the chosen word in it, and the position of the caret. */
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

/** Commands whose name contains what was typed; those that begin with it come first. */
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
