/**
 * The companion's hunks in CodeMirror's merge view.
 *
 * The merge view wants to compare the texts itself. Its `override` is not enough to
 * stop that: it is given pieces of text without their place, and what it answers is
 * joined over short unchanged lines, so that two hunks around a `}` would become
 * one. So its three questions for chunks are answered here, for the views that were
 * made with a {@link HunkDiff}, and by the package for all others.
 */

import { type Change, Chunk, type DiffConfig, getChunks } from "@codemirror/merge";
import type { EditorState, Text } from "@codemirror/state";
import { movedMarks } from "../review/marks";
import { isEmpty, type Pair, type Span, slice } from "../review/span";
import { changedWords } from "../review/words";

const { build, updateA, updateB } = Chunk;

Chunk.build = (a, b, config) =>
  config instanceof HunkDiff ? config.chunks(a, b) : build(a, b, config);

// The original never changes: it is touched to have the chunks asked for again.
Chunk.updateA = (chunks, a, b, changes, config) =>
  config instanceof HunkDiff ? config.chunks(a, b) : updateA(chunks, a, b, changes, config);

Chunk.updateB = (chunks, a, b, changes, config) =>
  config instanceof HunkDiff
    ? chunksOf(movedMarks(chunks.map(markOf), a, b, changes), a, b)
    : updateB(chunks, a, b, changes, config);

/** What the companion says about where the result differs from the original. */
export class HunkDiff implements DiffConfig {
  declare readonly scanLimit?: number;

  constructor(public marks: readonly Pair[]) {}

  chunks(a: Text, b: Text): readonly Chunk[] {
    return chunksOf(this.marks, a, b);
  }
}

/** Where the result of a merge view differs from the original right now. */
export function marksIn(state: EditorState): readonly Pair[] {
  return (getChunks(state)?.chunks ?? []).map(markOf);
}

const marks = new WeakMap<Chunk, Pair>();

/** Words by the place in the original: a mark that only moves keeps that object. */
const words = new WeakMap<Span, readonly Change[]>();

function markOf(chunk: Chunk): Pair {
  return marks.get(chunk) as Pair;
}

function chunksOf(all: readonly Pair[], a: Text, b: Text): readonly Chunk[] {
  return all.map((mark) => {
    const changes = words.get(mark.a) ?? changedWords(slice(a, mark.a), slice(b, mark.b));
    words.set(mark.a, changes);
    const [fromA, toA] = bounds(a, mark.a);
    const [fromB, toB] = bounds(b, mark.b);
    const chunk = new Chunk(changes, fromA, toA, fromB, toB);
    marks.set(chunk, mark);
    return chunk;
  });
}

/** A chunk ends one past its last line, even where no line follows. */
function bounds(document: Text, span: Span): [number, number] {
  if (isEmpty(span)) return [span.from, span.from];
  return [span.from, document.lineAt(span.to - 1).to + 1];
}
