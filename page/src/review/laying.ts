/** Lays a proposal on the table: where its hunks are, and what they have become. */

import { Text } from "@codemirror/state";
import type { Detail } from "../api/wire";
import { changedLines } from "./lines";
import { marksOf } from "./marks";
import { notationOf, shown, shownOriginal } from "./notation";
import { changesTo, movedPieces, piecesOf } from "./pieces";
import type { Sheet } from "./sheet";

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

function documentOf(text: string): Text {
  return Text.of(text.split("\n"));
}
