/**
 * Folds long unchanged parts into one line with a button. The merge package can fold too,
 * but its folds cannot be reached with the keyboard and would hide a dropped hunk.
 */

import { type Extension, StateEffect, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, WidgetType } from "@codemirror/view";
import type { Span } from "../review/span";
import { count } from "../text/format";

/** The height of a fold in pixels, as in diff.css. */
const HEIGHT = 28;

/** Opens one fold, by its number. */
export const unfold = StateEffect.define<number>();

/** Folds `parts`; `open` is called with the number of a fold that is clicked. */
export function folds(parts: readonly Span[], open: (fold: number) => void): Extension {
  return StateField.define<DecorationSet>({
    create: (state) =>
      Decoration.set(
        parts.map(({ from, to }, number) => {
          const lines = state.doc.lineAt(to).number - state.doc.lineAt(from).number + 1;
          const widget = new Fold(number, lines, open);
          return Decoration.replace({ widget, block: true, number }).range(from, to);
        }),
      ),
    update(value, { changes, docChanged, effects, selection }) {
      let folds = value;
      if (folds === Decoration.none) return folds;
      if (docChanged) {
        folds = folds
          .update({ filter: (from, to) => !changes.touchesRange(from, to) })
          .map(changes);
      }
      const head = selection?.main.head;
      if (head !== undefined) {
        folds = folds.update({
          filterFrom: head,
          filterTo: head,
          filter: (from, to) => head < from || head > to,
        });
      }
      for (const effect of effects) {
        if (!effect.is(unfold)) continue;
        folds = folds.update({ filter: (_from, _to, { spec }) => spec.number !== effect.value });
      }
      return folds;
    },
    provide: (field) => EditorView.decorations.from(field),
  });
}

class Fold extends WidgetType {
  constructor(
    private readonly number: number,
    private readonly lines: number,
    private readonly open: (fold: number) => void,
  ) {
    super();
  }

  override eq(other: Fold): boolean {
    return this.number === other.number && this.lines === other.lines && this.open === other.open;
  }

  override toDOM(): HTMLElement {
    const button = document.createElement("button");
    button.className = "fold";
    button.contentEditable = "false";
    button.textContent = count(this.lines, "unchanged line");
    button.setAttribute("aria-label", `Show ${button.textContent}`);
    button.addEventListener("click", () => this.open(this.number));
    return button;
  }

  override get estimatedHeight(): number {
    return HEIGHT;
  }

  override ignoreEvent(): boolean {
    return true;
  }
}
