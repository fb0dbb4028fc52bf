/** The bar above each hunk: its number, its state, and the button that changes the state. */

import { type EditorState, type Extension, type Range, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, WidgetType } from "@codemirror/view";
import type { Hunk, HunkState } from "../review/hunks";
import { isEmpty, type Span } from "../review/span";
import { hunksField, hunksIn } from "./hunk-field";

/** The height of a bar in pixels, as in diff.css. The editor needs it before it draws the bar. */
const HEIGHT = 30;

const WORDS: Record<HunkState, { state: string; act: string }> = {
  kept: { state: "kept", act: "Drop" },
  dropped: { state: "dropped", act: "Keep" },
  edited: { state: "edited by you", act: "Keep as proposed" },
};

/** Bars above the hunks of the result. `toggle`, if hunks can be dropped, is called with a hunk's index. */
export function resultBars(
  toggle: ((index: number) => void) | undefined,
  sideBySide: boolean,
): Extension {
  const build = (state: EditorState): DecorationSet => {
    const { list, states, current } = hunksIn(state);
    const bars = list.map((hunk, index) => {
      const floats = sideBySide && isEmpty(hunk.at) && hunk.at.from === 0;
      const shown = { state: states[index] as HunkState, current: index === current, floats };
      return above(
        hunk.at,
        new ResultBar(hunk.number, list.length, shown, toggle && (() => toggle(index))),
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
export function originalBars(hunks: readonly Hunk[]): Extension {
  return EditorView.decorations.compute([], ({ doc }) => {
    const bars = [];
    for (const { original } of hunks) {
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
 * A bar above the lines of a hunk. On a side without lines the bar is attached below the
 * line before: the merge view aligns both sides at the line that follows, including
 * everything above that line.
 */
function above(lines: Span, widget: WidgetType): Range<Decoration> {
  return isEmpty(lines) && lines.from > 0
    ? Decoration.widget({ widget, block: true, side: 1 }).range(lines.from - 1)
    : Decoration.widget({ widget, block: true, side: -2 }).range(lines.from);
}

interface BarState {
  state: HunkState;
  current: boolean;
  /** Whether it takes no height, because the original has nothing beside it. */
  floats: boolean;
}

class ResultBar extends WidgetType {
  constructor(
    private readonly number: number,
    private readonly total: number,
    private readonly shown: BarState,
    private readonly toggle: (() => void) | undefined,
  ) {
    super();
  }

  override eq(other: ResultBar): boolean {
    return (
      this.number === other.number &&
      this.shown.state === other.shown.state &&
      this.shown.current === other.shown.current &&
      this.shown.floats === other.shown.floats
    );
  }

  override toDOM(): HTMLElement {
    const { number, shown } = this;
    const words = WORDS[shown.state];
    const bar = element("div", "hunk-bar");
    bar.dataset.hunk = String(number);
    bar.dataset.hunkState = shown.state;
    bar.contentEditable = "false";
    if (shown.current) bar.setAttribute("aria-current", "true");
    bar.append(
      element("span", "hunk-name", `Hunk ${number} of ${this.total}`),
      element("span", "hunk-state", words.state),
    );
    if (this.toggle) {
      const button = element("button", "hunk-act", words.act);
      button.dataset.act = "toggle-hunk";
      button.setAttribute("aria-label", `${words.act}: hunk ${number}`);
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
