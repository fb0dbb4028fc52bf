/**
 * Text from agents in labels: what would steer the screen instead of being seen is
 * spelled out. (Inside the diff the editor does the same for us.)
 */

/**
 * Controls but the tab, marks that turn the direction of writing, and characters without any
 * width. Joiners are left alone, because scripts and emoji need them.
 */
export const UNSEEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
  /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

const UNSEEN_OR_TAB = new RegExp(`\\t|${UNSEEN.source}`, "gu");

export function visible(text: string): string {
  return text.replace(UNSEEN_OR_TAB, (character) => spelled(character.codePointAt(0) ?? 0));
}

/** The same for text of many lines, whose ends and tabs mean what they always mean. */
export function legible(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replace(UNSEEN, (character) =>
      character === "\n" ? character : spelled(character.codePointAt(0) ?? 0),
    );
}

/** The name of a character that cannot be seen. */
export function spelled(code: number): string {
  return code === 13 ? "⟨CR⟩" : `⟨${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}

/** The same length, for where places in the text have to stay what they are. */
export function masked(text: string): string {
  return text.replace(UNSEEN, (character) =>
    character === "\n" ? character : "�".repeat(character.length),
  );
}

/** A path as a folder, with its last separator, and a name. */
export function splitPath(path: string): { folder: string; name: string } {
  const cut = Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1;
  return { folder: visible(path.slice(0, cut)), name: visible(path.slice(cut)) };
}

/** A path as seen from the first of the folders that contains it. */
export function below(path: string, roots: readonly string[]): string {
  for (const root of roots) {
    const folder = root.endsWith("/") ? root : `${root}/`;
    if (path.startsWith(folder)) return path.slice(folder.length);
  }
  return path;
}
