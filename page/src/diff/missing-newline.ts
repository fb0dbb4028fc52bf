/** A note after a last line that has no newline. */

import { type Extension, RangeSet } from "@codemirror/state";
import { Decoration, EditorView, WidgetType } from "@codemirror/view";

class NoNewline extends WidgetType {
  override eq(): boolean {
    return true;
  }

  override toDOM(): HTMLElement {
    const note = document.createElement("span");
    note.className = "no-newline";
    note.textContent = "no newline at the end";
    return note;
  }
}

const note = Decoration.widget({ widget: new NoNewline(), side: 1 });

export const missingNewline: Extension = EditorView.decorations.compute(["doc"], ({ doc }) => {
  const open = doc.length > 0 && doc.line(doc.lines).length > 0;
  return open ? RangeSet.of(note.range(doc.length)) : RangeSet.empty;
});
