/** Words for a POSIX shell, to be copied and run. Pure. */

import { INVISIBLE } from "./visible";

/** What does not stand for itself where the shell knows escapes. */
const SPECIAL = new RegExp(`[\\t\\\\']|${INVISIBLE.source}`, "gu");

/**
 * A path as one word of a command. A character that is not seen, or that steers the terminal in
 * which the command is pasted, is written as the shell's own escape.
 */
export function shellWord(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  const isSeen = text.search(INVISIBLE) < 0 && !text.includes("\t");
  return isSeen ? `'${text.replaceAll("'", "'\\''")}'` : `$'${text.replace(SPECIAL, escaped)}'`;
}

function escaped(character: string): string {
  if (character === "\\" || character === "'") return `\\${character}`;
  return [...new TextEncoder().encode(character)]
    .map((byte) => `\\${byte.toString(8).padStart(3, "0")}`)
    .join("");
}
