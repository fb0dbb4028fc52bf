/** The bar above each hunk: its number, whether it is kept, and the button to change that. */

import { type EditorState, type Extension, type Range, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, WidgetType } from "@codemirror/view";
import type { Piece, PieceState } from "../review/pieces";
import { isEmpty, type Span } from "../review/span";
import { hunksField, hunksIn } from "./hunks";

/** The height of a bar in pixels, here because the editor plans with it; see diff.css. */
const HEIGHT = 30;

const WORDS: Record<PieceState, { state: string; act: string }> = {
  kept: { state: "kept", act: "Drop" },
  dropped: { state: "dropped", act: "Keep" },
  edited: { state: "edited by you", act: "Keep as proposed" },
};

/** Bars above the hunks of the result; `toggle` is called with a hunk's index, if hunks can be dropped. */
export function resultBars(
  toggle: ((index: number) => void) | undefined,
  sideBySide: boolean,
): Extension {
  const build = (state: EditorState): DecorationSet => {
    const { pieces, states, current } = hunksIn(state);
    const bars = pieces.map((piece, index) => {
      const floats = sideBySide && isEmpty(piece.at) && piece.at.from === 0;
      const shown = { state: states[index] as PieceState, current: index === current, floats };
      return above(
        piece.at,
        new ResultBar(piece.id, pieces.length, shown, toggle && (() => toggle(index))),
      );
    });
    return Decoration.set(bars, true);
  };
  return StateField.define<DecorationSet>({
    create: build,
    update: (bars, { startState, state }) =>
      startState.field(hunksField) === state.field(hunksField) ? bars : build(state),
    provide: (field) => EditorView.decorations.from(field),
  });
}

/** Bars of the same height in the original, so that lines stay side by side. */
export function originalBars(pieces: readonly Piece[]): Extension {
  return EditorView.decorations.compute([], ({ doc }) => {
    const bars = [];
    for (const { original } of pieces) {
      if (!isEmpty(original)) {
        const first = doc.lineAt(original.from).number;
        const last = doc.lineAt(original.to - 1).number;
        bars.push(above(original, new OriginalBar([first, last])));
      } else if (original.from > 0) {
        bars.push(above(original, new OriginalBar(undefined)));
      }
    }
    return Decoration.set(bars, true);
  });
}

/**
 * A bar above the lines of a hunk. Where a side has no lines, the bar hangs below
 * the line before: the merge view makes both sides level at the line that follows,
 * with all that stands above it.
 */
function above(lines: Span, widget: WidgetType): Range<Decoration> {
  return isEmpty(lines) && lines.from > 0
    ? Decoration.widget({ widget, block: true, side: 1 }).range(lines.from - 1)
    : Decoration.widget({ widget, block: true, side: -2 }).range(lines.from);
}

interface Shown {
  state: PieceState;
  current: boolean;
  /** Takes no room of its own. */
  floats: boolean;
}

class ResultBar extends WidgetType {
  constructor(
    private readonly id: number,
    private readonly total: number,
    private readonly shown: Shown,
    private readonly toggle: (() => void) | undefined,
  ) {
    super();
  }

  override eq(other: ResultBar): boolean {
    return (
      this.id === other.id &&
      this.shown.state === other.shown.state &&
      this.shown.current === other.shown.current &&
      this.shown.floats === other.shown.floats
    );
  }

  override toDOM(): HTMLElement {
    const { id, shown } = this;
    const words = WORDS[shown.state];
    const bar = element("div", "hunk-bar");
    bar.dataset.hunk = String(id);
    bar.dataset.hunkState = shown.state;
    bar.contentEditable = "false";
    if (shown.current) bar.setAttribute("aria-current", "true");
    bar.append(
      element("span", "hunk-name", `Hunk ${id} of ${this.total}`),
      element("span", "hunk-state", words.state),
    );
    if (this.toggle) {
      const button = element("button", "hunk-act", words.act);
      button.dataset.act = "toggle-hunk";
      button.setAttribute("aria-label", `${words.act}: hunk ${id}`);
      button.addEventListener("click", this.toggle);
      bar.append(button);
    }
    if (!shown.floats) return bar;
    const place = element("div", "hunk-place");
    place.append(bar);
    return place;
  }

  override get estimatedHeight(): number {
    return this.shown.floats ? 0 : HEIGHT;
  }

  override ignoreEvent(): boolean {
    return true;
  }
}

class OriginalBar extends WidgetType {
  constructor(private readonly lines: [number, number] | undefined) {
    super();
  }

  override eq(other: OriginalBar): boolean {
    return this.lines?.join() === other.lines?.join();
  }

  override toDOM(): HTMLElement {
    const bar = element("div", "hunk-bar");
    bar.append(element("span", "hunk-state", this.words()));
    return bar;
  }

  private words(): string {
    if (this.lines === undefined) return "nothing here before";
    const [first, last] = this.lines;
    return first === last ? `line ${first}` : `lines ${first}–${last}`;
  }

  override get estimatedHeight(): number {
    return HEIGHT;
  }
}

function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  className: string,
  text = "",
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  made.className = className;
  made.textContent = text;
  return made;
}
