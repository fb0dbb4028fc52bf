/**
 * How texts are written, apart from what they say.
 *
 * The editor's documents have `\n` between lines and no byte order mark, wherever
 * that loses nothing; what was taken away is put back when the result is written.
 * Where it would lose something (mixed endings, or an agent that changes them),
 * `\r` stays in the document and is shown.
 */

export const BOM = "\ufeff";

export type Ending = "lf" | "crlf" | "mixed" | "none";

/** How the lines of a text end. */
export function endingOf(text: string): Ending {
  let lf = false;
  let crlf = false;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) {
    if (at > 0 && text.charCodeAt(at - 1) === 13) crlf = true;
    else lf = true;
    if (lf && crlf) return "mixed";
  }
  if (lf) return "lf";
  return crlf ? "crlf" : "none";
}

export interface Notation {
  /** Whether the result starts with a byte order mark. */
  bom: boolean;
  /** What a line break of the result's document stands for. */
  newline: "\n" | "\r\n";
  /** What a line break that is typed or pasted becomes in the document. */
  typed: "\n" | "\r\n";
  /** Whether `\r\n` of the original is shown as a plain line break. */
  foldsOriginal: boolean;
}

/**
 * The notation for a review of `original` against `proposed`, with the result at
 * `current`. What is equal in the documents is then equal in the eyes of the
 * companion, which looks past `\r\n` in the original where the proposal has `\n`,
 * and past a byte order mark.
 */
export function notationOf(original: string, proposed: string, current: string): Notation {
  const before = endingOf(original);
  const after = together(endingOf(proposed), endingOf(current));
  const bom = current.startsWith(BOM);
  const plain = { bom, newline: "\n", typed: "\n", foldsOriginal: false } as const;
  if (before === "crlf" && after === "lf") return { ...plain, foldsOriginal: true };
  const crlf = after === "crlf" || (after === "none" && before === "crlf");
  if (crlf && (before === "crlf" || before === "none")) {
    return { ...plain, newline: "\r\n", foldsOriginal: true };
  }
  return crlf ? { ...plain, typed: "\r\n" } : plain;
}

/** A text of the result's side as the document shows it. */
export function shown(text: string, notation: Notation): string {
  return unfold(text, notation.newline === "\r\n");
}

/** The original as its document shows it. */
export function shownOriginal(text: string, notation: Notation): string {
  return unfold(text, notation.foldsOriginal);
}

/** The text that a document of the result's side stands for, byte for byte. */
export function written(document: string, notation: Notation): string {
  const text = notation.newline === "\n" ? document : document.replaceAll("\n", notation.newline);
  return notation.bom ? BOM + text : text;
}

function unfold(text: string, crlf: boolean): string {
  const body = text.startsWith(BOM) ? text.slice(BOM.length) : text;
  return crlf ? body.replaceAll("\r\n", "\n") : body;
}

function together(one: Ending, other: Ending): Ending {
  if (one === "none") return other;
  return other === "none" || one === other ? one : "mixed";
}
