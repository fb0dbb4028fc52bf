/** The bar above each hunk: its number, its state, and the button that changes the state. */

import { getChunks } from "@codemirror/merge";
import { type EditorState, type Extension, type Range, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, WidgetType } from "@codemirror/view";
import type { Hunk, HunkState } from "../review/hunks";
import { isEmpty, type Span } from "../review/span";
import { count } from "../text/format";
import { hunksField, hunksIn } from "./hunk-field";
import { onPress } from "./press";

/** The height of a bar in pixels, as in diff.css. The editor needs it before it draws the bar. */
const HEIGHT = 30;

/** Longer lines, in characters, are not wrapped: the editor then draws only the part that is in sight. */
export const LONG = 2_000;

const WORDS: Record<HunkState, { state: string; act: string }> = {
  kept: { state: "kept", act: "Drop" },
  dropped: { state: "dropped", act: "Keep" },
  edited: { state: "edited by you", act: "Keep as proposed" },
};

export interface BarActions {
  sideBySide: boolean;
  hasLongLines: boolean;
  /** Drops the hunk with this index, or keeps it again; absent if hunks cannot be dropped. */
  toggle?(index: number): void;
  /** Shows a changed place of a hunk, counted from 0 and on from the last to the first. */
  showChange(index: number, place: number): void;
}

/** Bars above the hunks of the result. */
export function resultBars({
  sideBySide,
  hasLongLines,
  toggle,
  showChange,
}: BarActions): Extension {
  const build = (state: EditorState): DecorationSet => {
    const { list, states, current } = hunksIn(state);
    const bars = list.map((hunk, index) => {
      const shown = {
        state: states[index] as HunkState,
        current: index === current,
        floats: sideBySide && isEmpty(hunk.at) && hunk.at.from === 0,
        places: hasLongLines ? placesIn(state, hunk.at) : 0,
      };
      const acts = {
        ...(toggle && { toggle: () => toggle(index) }),
        showChange: (place: number) => showChange(index, place),
      };
      return attached(hunk.at, new ResultBar(hunk.number, list.length, shown, acts));
    });
    return Decoration.set(bars, true);
  };
  return StateField.define<DecorationSet>({
    create: build,
    update: (bars, { startState, state }) =>
      startState.field(hunksField) === state.field(hunksField) &&
      getChunks(startState)?.chunks === getChunks(state)?.chunks
        ? bars
        : build(state),
    provide: (field) => EditorView.decorations.from(field),
  });
}

/** How many changed places a single long line has; 0 if the lines are not that long. */
function placesIn(state: EditorState, { from, to }: Span): number {
  if (from === to) return 0;
  const line = state.doc.lineAt(from);
  if (line.length <= LONG || line.to + 1 < to) return 0;
  return getChunks(state)?.chunks.find(({ fromB }) => fromB === from)?.changes.length ?? 0;
}

/** Bars of the same height in the original, so that lines stay side by side. */
export function originalBars(hunks: readonly Hunk[]): Extension {
  return EditorView.decorations.compute([], ({ doc }) => {
    const bars = [];
    for (const { original } of hunks) {
      if (!isEmpty(original)) {
        const first = doc.lineAt(original.from).number;
        const last = doc.lineAt(original.to - 1).number;
        bars.push(attached(original, new OriginalBar([first, last])));
      } else if (original.from > 0) {
        bars.push(attached(original, new OriginalBar(undefined)));
      }
    }
    return Decoration.set(bars, true);
  });
}

/**
 * A widget above the lines of a hunk, further down with a higher `order`. On a side without
 * lines it is attached below the line before: the merge view aligns both sides at the line
 * that follows, including everything above that line.
 */
export function attached(lines: Span, widget: WidgetType, order = 0): Range<Decoration> {
  return isEmpty(lines) && lines.from > 0
    ? Decoration.widget({ widget, block: true, side: 1 + order }).range(lines.from - 1)
    : Decoration.widget({ widget, block: true, side: -2 + order }).range(lines.from);
}

interface BarState {
  state: HunkState;
  current: boolean;
  /** Whether it takes no height, because the original has nothing beside it. */
  floats: boolean;
  /** How many changes there are in one long line, where both sides would look alike. */
  places: number;
}

interface BarActs {
  toggle?: () => void;
  showChange(place: number): void;
}

class ResultBar extends WidgetType {
  constructor(
    private readonly number: number,
    private readonly total: number,
    private readonly shown: BarState,
    private readonly acts: BarActs,
  ) {
    super();
  }

  override eq(other: ResultBar): boolean {
    return (
      this.number === other.number &&
      this.shown.state === other.shown.state &&
      this.shown.current === other.shown.current &&
      this.shown.floats === other.shown.floats &&
      this.shown.places === other.shown.places
    );
  }

  override toDOM(view: EditorView): HTMLElement {
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
    if (shown.places > 0) bar.append(...this.places());
    if (this.acts.toggle) {
      const button = element("button", "hunk-act", words.act);
      button.dataset.act = "toggle-hunk";
      button.setAttribute("aria-label", `${words.act}: hunk ${number}`);
      const successor = `[data-hunk="${number}"] [data-act=toggle-hunk]`;
      onPress(button, view, [successor], this.acts.toggle);
      bar.append(button);
    }
    if (!shown.floats) return bar;
    const place = element("div", "hunk-place");
    place.append(bar);
    return place;
  }

  /** How many changes the line has, and a button that goes from one to the next. */
  private places(): HTMLElement[] {
    const { places } = this.shown;
    const words = element("span", "hunk-places", `${count(places, "change")} in one line`);
    const button = element("button", "hunk-act", "Next");
    button.dataset.act = "next-change";
    button.setAttribute("aria-label", "Next change in this line");
    // The first one is in sight when the hunk is shown.
    let place = 0;
    button.addEventListener("click", () => {
      place += 1;
      this.acts.showChange(place);
    });
    return [words, button];
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
