/** Words for a POSIX shell, to be copied and run. Pure. */

/** A path as one word of a command. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
