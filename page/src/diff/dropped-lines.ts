/**
 * The lines that a dropped hunk would have brought, dimmed, so that one sees what was dropped.
 * Beside the original there is a gap of the same height, so that lines stay side by side.
 */

import { type EditorState, type Extension, StateEffect, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, WidgetType } from "@codemirror/view";
import type { Hunk, Texts } from "../review/hunks";
import { isEmpty, type Span, slice } from "../review/span";
import { count } from "../text/format";
import { visible } from "../text/visible";
import { attached } from "./hunk-bars";
import { hunksField, hunksIn } from "./hunk-field";

/** The height of a line in pixels, as in diff.css. */
const LINE = 20;

/** More lines are counted, not shown. */
const MOST = 12;

/** Longer lines, in characters, are cut. */
const LONGEST = 400;

/** Below the bar of the hunk, which is attached with 0. */
const BELOW_BAR = 1;

/** The dropped lines of each hunk of the result. */
export function droppedLines(texts: Texts): Extension {
  return field((state) => {
    const { list } = hunksIn(state);
    return droppedIn(state).map((index) => {
      const hunk = list[index] as Hunk;
      return attached(hunk.at, new Dropped(linesOf(hunk, texts)), BELOW_BAR);
    });
  });
}

/** The hunks, by index, that have lines and are dropped. */
export function droppedIn(state: EditorState): number[] {
  const { list, states } = hunksIn(state);
  return list.flatMap(({ proposed }, index) =>
    states[index] === "dropped" && !isEmpty(proposed) ? [index] : [],
  );
}

export const setGaps = StateEffect.define<readonly number[]>();

/** Gaps in the original for the dropped hunks, which `setGaps` tells. */
export function droppedGaps(hunks: readonly Hunk[], texts: Texts, first: number[]): Extension {
  const build = (dropped: readonly number[]) =>
    Decoration.set(
      dropped.flatMap((index) => {
        const hunk = hunks[index] as Hunk;
        const { original } = hunk;
        const gap = new Gap(linesOf(hunk, texts).length);
        return isEmpty(original) && original.from === 0 ? [] : [attached(original, gap, BELOW_BAR)];
      }),
      true,
    );
  return StateField.define<DecorationSet>({
    create: () => build(first),
    update: (gaps, { effects }) => {
      const told = effects.find((effect) => effect.is(setGaps));
      return told === undefined ? gaps : build(told.value);
    },
    provide: (field) => EditorView.decorations.from(field),
  });
}

function field(build: (state: EditorState) => ReturnType<typeof attached>[]): Extension {
  return StateField.define<DecorationSet>({
    create: (state) => Decoration.set(build(state), true),
    update: (shown, { startState, state }) =>
      startState.field(hunksField) === state.field(hunksField)
        ? shown
        : Decoration.set(build(state), true),
    provide: (field) => EditorView.decorations.from(field),
  });
}

function linesOf({ proposed }: { proposed: Span }, texts: Texts): string[] {
  const lines = slice(texts.proposed, proposed).replace(/\n$/, "").split("\n");
  if (lines.length <= MOST) return lines;
  return [...lines.slice(0, MOST - 1), `… and ${count(lines.length - MOST + 1, "more line")}`];
}

class Dropped extends WidgetType {
  constructor(private readonly lines: readonly string[]) {
    super();
  }

  override eq(other: Dropped): boolean {
    return this.lines.join("\n") === other.lines.join("\n");
  }

  override toDOM(): HTMLElement {
    const block = document.createElement("div");
    block.className = "dropped-lines";
    block.contentEditable = "false";
    for (const line of this.lines) {
      const shown = document.createElement("del");
      shown.textContent = visible(line.slice(0, LONGEST));
      block.append(shown);
    }
    return block;
  }

  override get estimatedHeight(): number {
    return this.lines.length * LINE;
  }

  override ignoreEvent(): boolean {
    return true;
  }
}

class Gap extends WidgetType {
  constructor(private readonly lines: number) {
    super();
  }

  override eq(other: Gap): boolean {
    return this.lines === other.lines;
  }

  override toDOM(): HTMLElement {
    const gap = document.createElement("div");
    gap.className = "dropped-gap";
    gap.style.height = `${this.estimatedHeight}px`;
    return gap;
  }

  override get estimatedHeight(): number {
    return this.lines * LINE;
  }
}
