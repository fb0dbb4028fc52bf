/**
 * The companion's hunks as chunks of CodeMirror's merge view.
 *
 * The merge view compares the texts itself. Its `override` option does not prevent that:
 * it gets parts of the texts without their positions, and its result is joined over short
 * unchanged lines, so that two hunks around a `}` would become one. So the three
 * functions that compute chunks are replaced, for views with a {@link HunkDiff}; for all
 * others they do what they did.
 */

import { type Change, Chunk, type DiffConfig, getChunks } from "@codemirror/merge";
import type { EditorState, Text } from "@codemirror/state";
import { movedDifferences } from "../review/differences";
import { isEmpty, type Pair, type Span, slice } from "../review/span";
import { changedWords } from "../review/word-diff";

const { build, updateA, updateB } = Chunk;

Chunk.build = (a, b, config) =>
  config instanceof HunkDiff ? config.chunks(a, b) : build(a, b, config);

// The original never changes. `DiffView.correct` touches it to have the chunks computed again.
Chunk.updateA = (chunks, a, b, changes, config) =>
  config instanceof HunkDiff ? config.chunks(a, b) : updateA(chunks, a, b, changes, config);

Chunk.updateB = (chunks, a, b, changes, config) =>
  config instanceof HunkDiff
    ? chunksOf(movedDifferences(chunks.map(differenceOf), a, b, changes), a, b)
    : updateB(chunks, a, b, changes, config);

/** Where the result differs from the original, according to the companion. */
export class HunkDiff implements DiffConfig {
  declare readonly scanLimit?: number;

  constructor(public differences: readonly Pair[]) {}

  chunks(a: Text, b: Text): readonly Chunk[] {
    return chunksOf(this.differences, a, b);
  }
}

/** Where the result in a merge view differs from the original now. */
export function differencesIn(state: EditorState): readonly Pair[] {
  return (getChunks(state)?.chunks ?? []).map(differenceOf);
}

const differences = new WeakMap<Chunk, Pair>();

/** Changed words, by the span in the original: a difference that only moves keeps that object. */
const words = new WeakMap<Span, readonly Change[]>();

function differenceOf(chunk: Chunk): Pair {
  return differences.get(chunk) as Pair;
}

function chunksOf(all: readonly Pair[], a: Text, b: Text): readonly Chunk[] {
  return all.map((difference) => {
    const changes =
      words.get(difference.a) ?? changedWords(slice(a, difference.a), slice(b, difference.b));
    words.set(difference.a, changes);
    const [fromA, toA] = bounds(a, difference.a);
    const [fromB, toB] = bounds(b, difference.b);
    const chunk = new Chunk(changes, fromA, toA, fromB, toB);
    differences.set(chunk, difference);
    return chunk;
  });
}

/** The merge view has a chunk end one past its last line, even if no line follows. */
function bounds(document: Text, span: Span): [number, number] {
  if (isEmpty(span)) return [span.from, span.from];
  return [span.from, document.lineAt(span.to - 1).to + 1];
}
