/**
 * Text from agents and models in labels. Characters that would steer the screen instead
 * of being seen are shown as codes. (Inside the diff the editor component does the same.)
 */

/**
 * Control characters except the tab, marks that change the direction of writing, and
 * characters without width. Joiners are not among them: scripts and emoji need them.
 */
export const INVISIBLE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to find.
  /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

const INVISIBLE_OR_TAB = new RegExp(`\\t|${INVISIBLE.source}`, "gu");

/** For one line of text. */
export function visible(text: string): string {
  return text.replace(INVISIBLE_OR_TAB, (character) => spellOut(character.codePointAt(0) ?? 0));
}

/** For text of many lines: line ends and tabs stay. */
export function visibleLines(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replace(INVISIBLE, (character) =>
      character === "\n" ? character : spellOut(character.codePointAt(0) ?? 0),
    );
}

/** The code of an invisible character, in brackets. */
export function spellOut(code: number): string {
  return code === 13 ? "⟨CR⟩" : `⟨${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}

/** Replaces invisible characters and keeps the length, where positions in the text must not change. */
export function maskInvisible(text: string): string {
  return text.replace(INVISIBLE, (character) =>
    character === "\n" ? character : "�".repeat(character.length),
  );
}

/** A path as a folder, with its last separator, and a name; both visible. */
export function splitPath(path: string): { folder: string; name: string } {
  const cut = Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1;
  return { folder: visible(path.slice(0, cut)), name: visible(path.slice(cut)) };
}

/** The path relative to the first root that contains it. */
export function relativePath(path: string, roots: readonly string[]): string {
  for (const root of roots) {
    const folder = root.endsWith("/") ? root : `${root}/`;
    if (path.startsWith(folder)) return path.slice(folder.length);
  }
  return path;
}
