/**
 * Folds long unchanged parts into one line with buttons. The merge package can fold too,
 * but its folds cannot be reached with the keyboard and would hide a dropped hunk.
 */

import { type Extension, StateEffect, StateField, type Text } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, WidgetType } from "@codemirror/view";
import type { Span } from "../review/span";
import { count } from "../text/format";
import { onPress } from "./press";

/** The height of a fold in pixels, as in diff.css. */
const HEIGHT = 28;

/** How many lines are opened at a time. */
const STEP = 20;

/** All of a fold, or some lines at its start or its end. */
export type Part = "all" | "start" | "end";

export interface Unfolding {
  fold: number;
  part: Part;
}

export const unfold = StateEffect.define<Unfolding>();

/** Folds `parts`; `open` is called when a part of a fold is to be shown. */
export function folds(parts: readonly Span[], open: (what: Unfolding) => void): Extension {
  const folded = (number: number, { from, to }: Span, doc: Text) => {
    const first = doc.lineAt(from).number;
    const last = doc.lineAt(to).number;
    const widget = new Fold(number, last - first + 1, { first, last, all: doc.lines }, open);
    return Decoration.replace({ widget, block: true, number }).range(from, to);
  };
  return StateField.define<DecorationSet>({
    create: ({ doc }) => Decoration.set(parts.map((part, number) => folded(number, part, doc))),
    update(value, { changes, docChanged, effects, selection, state: { doc } }) {
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
        const { fold, part } = effect.value;
        let before: Span | undefined;
        folds = folds.update({
          filter: (from, to, { spec }) => {
            if (spec.number !== fold) return true;
            before = { from, to };
            return false;
          },
        });
        const rest = before && restOf(before, part, doc);
        if (rest !== undefined) folds = folds.update({ add: [folded(fold, rest, doc)] });
      }
      return folds;
    },
    provide: (field) => EditorView.decorations.from(field),
  });
}

/** What stays folded; undefined if that is nothing. */
function restOf({ from, to }: Span, part: Part, doc: Text): Span | undefined {
  const first = doc.lineAt(from).number + (part === "start" ? STEP : 0);
  const last = doc.lineAt(to).number - (part === "end" ? STEP : 0);
  if (part === "all" || first > last) return undefined;
  return { from: doc.line(first).from, to: doc.line(last).to };
}

class Fold extends WidgetType {
  constructor(
    private readonly number: number,
    private readonly lines: number,
    private readonly at: { first: number; last: number; all: number },
    private readonly open: (what: Unfolding) => void,
  ) {
    super();
  }

  override eq(other: Fold): boolean {
    return this.number === other.number && this.lines === other.lines && this.open === other.open;
  }

  override toDOM(view: EditorView): HTMLElement {
    const row = document.createElement("div");
    row.className = "fold-row";
    row.dataset.foldNumber = String(this.number);
    row.contentEditable = "false";
    const lines = count(this.lines, "unchanged line");
    const add = (part: Part, text: string, label: string) =>
      row.append(this.button(view, part, text, label));
    add("all", lines, `Show ${lines}`);
    if (this.lines > STEP) {
      // At the start and the end of the file there is a change on one side only.
      if (this.at.first > 1) {
        add("start", `↓ ${STEP}`, `Show ${STEP} more lines below the change`);
      }
      if (this.at.last < this.at.all) {
        add("end", `↑ ${STEP}`, `Show ${STEP} more lines above the change`);
      }
    }
    return row;
  }

  private button(view: EditorView, part: Part, text: string, label: string): HTMLElement {
    const button = document.createElement("button");
    button.className = "fold";
    button.dataset.fold = part;
    button.textContent = text;
    button.setAttribute("aria-label", label);
    const row = `[data-fold-number="${this.number}"]`;
    const successors = [`${row} [data-fold=${part}]`, `${row} [data-fold=all]`];
    onPress(button, view, successors, () => this.open({ fold: this.number, part }));
    return button;
  }

  override get estimatedHeight(): number {
    return HEIGHT;
  }

  override ignoreEvent(): boolean {
    return true;
  }
}
