/**
 * Line endings and byte order marks.
 *
 * The editor's documents have `\n` between lines and no byte order mark, wherever
 * that loses nothing; both are put back when the result is turned into a text. Where
 * it would lose something (mixed endings, or an agent that changes them), `\r` stays
 * in the document and is shown.
 */

export const BOM = "\ufeff";

export type LineEnding = "lf" | "crlf" | "mixed" | "none";

/** How the lines of a text end. */
export function lineEndingOf(text: string): LineEnding {
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

export interface FileFormat {
  /** Whether the result starts with a byte order mark. */
  bom: boolean;
  /** What a line break in the document of the result stands for. */
  newline: "\n" | "\r\n";
  /** What a line break that is typed or pasted becomes in the document. */
  typedNewline: "\n" | "\r\n";
  /** Whether the document of the original has `\n` where the text has `\r\n`. */
  normalisesOriginal: boolean;
}

/**
 * The format for a review of `original` against `proposed`, whose result is `current`.
 * Documents are then equal where the companion finds no hunk: it ignores byte order
 * marks, and `\r\n` in the original where the proposal has `\n`.
 */
export function fileFormatOf(original: string, proposed: string, current: string): FileFormat {
  const before = lineEndingOf(original);
  const after = combined(lineEndingOf(proposed), lineEndingOf(current));
  const bom = current.startsWith(BOM);
  const plain = { bom, newline: "\n", typedNewline: "\n", normalisesOriginal: false } as const;
  if (before === "crlf" && after === "lf") return { ...plain, normalisesOriginal: true };
  const crlf = after === "crlf" || (after === "none" && before === "crlf");
  if (crlf && (before === "crlf" || before === "none")) {
    return { ...plain, newline: "\r\n", normalisesOriginal: true };
  }
  return crlf ? { ...plain, typedNewline: "\r\n" } : plain;
}

/** The document of a proposed text or a draft. */
export function toDocument(text: string, format: FileFormat): string {
  return normalise(text, format.newline === "\r\n");
}

/** The document of the original. */
export function originalDocument(text: string, format: FileFormat): string {
  return normalise(text, format.normalisesOriginal);
}

/** The inverse of {@link toDocument}, byte for byte. */
export function fromDocument(document: string, format: FileFormat): string {
  const text = format.newline === "\n" ? document : document.replaceAll("\n", format.newline);
  return format.bom ? BOM + text : text;
}

function normalise(text: string, crlf: boolean): string {
  const body = text.startsWith(BOM) ? text.slice(BOM.length) : text;
  return crlf ? body.replaceAll("\r\n", "\n") : body;
}

function combined(one: LineEnding, other: LineEnding): LineEnding {
  if (one === "none") return other;
  return other === "none" || one === other ? one : "mixed";
}
