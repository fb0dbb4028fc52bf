/** One proposal on the table: its texts, the result as it stands, and the hunks in it. */

import type { Text } from "@codemirror/state";
import type { Detail } from "../api/wire";
import { BOM, type Notation, written } from "./notation";
import type { Piece, Texts } from "./pieces";
import type { Pair } from "./span";

export interface Sheet {
  detail: Detail;
  notation: Notation;
  texts: Texts;
  /** The text as it will be written, as a document. */
  result: Text;
  /** The hunks of the proposal. */
  pieces: readonly Piece[];
  /** Where the result differs from the original. */
  marks: readonly Pair[];
}

/** The result byte for byte as it will be written. */
export function textOf(sheet: Sheet): string {
  return written(sheet.result.toString(), sheet.notation);
}

export function isAsProposed({ result, texts, notation, detail }: Sheet): boolean {
  return notation.bom === detail.proposed.startsWith(BOM) && result.eq(texts.proposed);
}

/** Whether the person can change anything about it before they decide. */
export function isEditable({ detail }: Sheet): boolean {
  return detail.editable && detail.terminal_only === undefined;
}

/** The agent wants the file to be empty, which it was not. */
export function isDeletion({ detail }: Sheet): boolean {
  return detail.proposed === "" && detail.original !== undefined && detail.original !== "";
}
