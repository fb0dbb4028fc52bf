/** The hunks of the proposal as a state field of the result's editor. */

import {
  type EditorState,
  type Extension,
  Facet,
  StateEffect,
  StateField,
} from "@codemirror/state";
import { type Hunk, type HunkState, movedHunks, stateOf, type Texts } from "../review/hunks";

export interface Hunks {
  list: readonly Hunk[];
  /** The state of each hunk of the list. */
  states: readonly HunkState[];
  /** The hunk that keys act on, as an index; -1 if there is none. */
  current: number;
}

/** What the result is compared with to find the state of a hunk. */
const reviewTexts = Facet.define<Texts, Texts>({
  combine: (values) => values[0] as Texts,
});

export const setCurrent = StateEffect.define<number>();

export const hunksField = StateField.define<Hunks>({
  create: () => ({ list: [], states: [], current: -1 }),

  update(value, { state, startState, changes, docChanged, effects }) {
    let hunks = value;
    if (docChanged) {
      const texts = state.facet(reviewTexts);
      const list = movedHunks(value.list, texts, startState.doc, state.doc, changes);
      const states = list.map((hunk, index) => {
        const { from, to } = (value.list[index] as Hunk).at;
        const known = value.states[index] as HunkState;
        return changes.touchesRange(from, to) ? stateOf(hunk, texts, state.doc) : known;
      });
      hunks = { ...value, list, states };
    }
    for (const effect of effects) {
      if (effect.is(setCurrent)) hunks = { ...hunks, current: effect.value };
    }
    return hunks;
  },
});

/** The field with its first value. */
export function hunksExtension(list: readonly Hunk[], texts: Texts, current: number): Extension {
  return [
    reviewTexts.of(texts),
    hunksField.init((state) => ({
      list,
      states: list.map((hunk) => stateOf(hunk, texts, state.doc)),
      current,
    })),
  ];
}

export function hunksIn(state: EditorState): Hunks {
  return state.field(hunksField);
}
