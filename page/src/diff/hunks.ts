/** The hunks of the proposal as part of the result editor's state. */

import { type EditorState, Facet, StateEffect, StateField } from "@codemirror/state";
import { movedPieces, type Piece, type PieceState, stateOf, type Texts } from "../review/pieces";

export interface Hunks {
  pieces: readonly Piece[];
  states: readonly PieceState[];
  /** The one that keys act on, as an index; -1 if there is none. */
  current: number;
}

/** The two texts that the result is made of. */
export const reviewTexts = Facet.define<Texts, Texts>({
  combine: (values) => values[0] as Texts,
});

export const setCurrent = StateEffect.define<number>();

export const hunksField = StateField.define<Hunks>({
  create: () => ({ pieces: [], states: [], current: -1 }),

  update(value, { state, startState, changes, docChanged, effects }) {
    let hunks = value;
    if (docChanged) {
      const texts = state.facet(reviewTexts);
      const before = hunks.pieces;
      const pieces = movedPieces(before, texts, startState.doc, state.doc, changes);
      const states = pieces.map((piece, index) => {
        const { from, to } = (before[index] as Piece).at;
        const known = hunks.states[index] as PieceState;
        return changes.touchesRange(from, to) ? stateOf(piece, texts, state.doc) : known;
      });
      hunks = { ...hunks, pieces, states };
    }
    for (const effect of effects) {
      if (effect.is(setCurrent)) hunks = { ...hunks, current: effect.value };
    }
    return hunks;
  },
});

/** The field with the hunks it starts with. */
export function hunksOf(pieces: readonly Piece[], texts: Texts, current: number) {
  return [
    reviewTexts.of(texts),
    hunksField.init((state) => ({
      pieces,
      states: pieces.map((piece) => stateOf(piece, texts, state.doc)),
      current,
    })),
  ];
}

export function hunksIn(state: EditorState): Hunks {
  return state.field(hunksField);
}
