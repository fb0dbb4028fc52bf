/** Makes the review of a proposal: where its hunks are, and what a draft has made of them. */

import { Text } from "@codemirror/state";
import type { Detail } from "../api/wire";
import { differencesOf } from "./differences";
import { fileFormatOf, originalDocument, toDocument } from "./file-format";
import { changesTo, hunksOf, movedHunks } from "./hunks";
import { changedLines } from "./line-diff";
import type { Review } from "./review";

export function reviewOf(detail: Detail): Review {
  const original = detail.original ?? "";
  const current = detail.current ?? detail.proposed;
  const format = fileFormatOf(original, detail.proposed, current);
  const texts = {
    original: documentOf(originalDocument(original, format)),
    proposed: documentOf(toDocument(detail.proposed, format)),
  };
  const hunks = hunksOf(detail.hunksAt, texts);
  if (detail.current === undefined) {
    const differences = hunks.map((hunk) => ({ a: hunk.original, b: hunk.proposed }));
    return { detail, format, texts, result: texts.proposed, hunks, differences };
  }
  const result = documentOf(toDocument(current, format));
  const differences = detail.currentHunksAt
    ? differencesOf(detail.currentHunksAt, texts.original, result)
    : changedLines(texts.original.toString(), result.toString());
  const changes = changesTo(result, hunks, differences, texts);
  const moved = movedHunks(hunks, texts, texts.proposed, result, changes);
  return { detail, format, texts, result, hunks: moved, differences };
}

function documentOf(text: string): Text {
  return Text.of(text.split("\n"));
}
