/** Marks the lines of conflicts in the result. */

import { type Extension, RangeSetBuilder } from "@codemirror/state";
import { Decoration, EditorView } from "@codemirror/view";
import { conflictsIn, isMarker } from "../review/conflicts";

const inside = Decoration.line({ class: "conflict" });
const marker = Decoration.line({ class: "conflict conflict-marker" });

export const conflictMarks: Extension = EditorView.decorations.compute(["doc"], ({ doc }) => {
  const marks = new RangeSetBuilder<Decoration>();
  for (const { from, to } of conflictsIn(doc)) {
    for (let at = from; at < to; ) {
      const line = doc.lineAt(at);
      marks.add(line.from, line.from, isMarker(line.text) ? marker : inside);
      at = line.to + 1;
    }
  }
  return marks.finish();
});
