/** One proposal on the table: its texts, the result as it stands, and the hunks in it. */

import { Text } from "@codemirror/state";
import type { Detail } from "../api/wire";
import { changedLines } from "./lines";
import { marksOf } from "./marks";
import { BOM, type Notation, notationOf, shown, shownOriginal, written } from "./notation";
import { changesTo, movedPieces, type Piece, piecesOf, type Texts } from "./pieces";
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

export function sheetOf(detail: Detail): Sheet {
  const original = detail.original ?? "";
  const current = detail.current ?? detail.proposed;
  const notation = notationOf(original, detail.proposed, current);
  const texts = {
    original: documentOf(shownOriginal(original, notation)),
    proposed: documentOf(shown(detail.proposed, notation)),
  };
  const pieces = piecesOf(detail.hunks_at, texts);
  if (detail.current === undefined) {
    const marks = pieces.map((piece) => ({ a: piece.original, b: piece.proposed }));
    return { detail, notation, texts, result: texts.proposed, pieces, marks };
  }
  const result = documentOf(shown(current, notation));
  const marks = detail.current_hunks_at
    ? marksOf(detail.current_hunks_at, texts.original, result)
    : changedLines(texts.original.toString(), result.toString());
  const changes = changesTo(result, pieces, marks, texts);
  const moved = movedPieces(pieces, texts, texts.proposed, result, changes);
  return { detail, notation, texts, result, pieces: moved, marks };
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

function documentOf(text: string): Text {
  return Text.of(text.split("\n"));
}
