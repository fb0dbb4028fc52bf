/** The review of one proposal: its texts, the result as it stands, and the hunks in it. */

import type { Text } from "@codemirror/state";
import type { Detail } from "../api/wire";
import { BOM, type FileFormat, fromDocument } from "./file-format";
import type { Hunk, Texts } from "./hunks";
import type { Pair } from "./span";

export interface Review {
  detail: Detail;
  format: FileFormat;
  texts: Texts;
  /** The text that would be written if it were accepted now, as a document. */
  result: Text;
  /** The hunks of the proposal. */
  hunks: readonly Hunk[];
  /** Where the result differs from the original. */
  differences: readonly Pair[];
}

/** The result byte for byte. */
export function textOf(review: Review): string {
  return fromDocument(review.result.toString(), review.format);
}

export function isAsProposed({ result, texts, format, detail }: Review): boolean {
  return format.bom === detail.proposed.startsWith(BOM) && result.eq(texts.proposed);
}

/** Whether hunks can be dropped and the text can be edited before it is accepted. */
export function isEditable({ detail }: Review): boolean {
  return detail.editable && detail.terminalOnly === undefined;
}

/** Whether the agent empties a file that has content. */
export function isDeletion({ detail }: Review): boolean {
  return detail.proposed === "" && detail.original !== undefined && detail.original !== "";
}
