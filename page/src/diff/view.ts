/**
 * The diff on the screen: original and result side by side, or in one column. The result
 * is the text that would be written, and is edited in place.
 */

import {
  defaultKeymap,
  history,
  historyKeymap,
  indentWithTab,
  isolateHistory,
  undo,
  undoDepth,
} from "@codemirror/commands";
import { indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { getChunks, MergeView, originalDocChangeEffect, unifiedMergeView } from "@codemirror/merge";
import {
  ChangeSet,
  Compartment,
  EditorSelection,
  EditorState,
  type Extension,
  Text,
  type TransactionSpec,
} from "@codemirror/state";
import { EditorView, highlightSpecialChars, keymap, lineNumbers } from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";
import type { Detail, WireHunk } from "../api/wire";
import { conflictsIn } from "../review/conflicts";
import { differencesOf, sameDifferences } from "../review/differences";
import { type HunkState, toggle } from "../review/hunks";
import { changedLines } from "../review/line-diff";
import { isEditable, type Review } from "../review/review";
import { type Pair, type Span, slice } from "../review/span";
import { unchangedParts } from "../review/unchanged";
import { INVISIBLE, maskInvisible, spellOut } from "../text/visible";
import { differencesIn, HunkDiff } from "./chunks";
import { conflictMarks } from "./conflict-marks";
import { droppedGaps, droppedIn, droppedLines, setGaps } from "./dropped-lines";
import { folds, type Unfolding, unfold } from "./folds";
import { LONG, originalBars, resultBars } from "./hunk-bars";
import { type Hunks, hunksExtension, hunksIn, setCurrent } from "./hunk-field";
import { acceptKeys } from "./keys";
import { languageOf } from "./language";
import { missingNewline } from "./missing-newline";

export type Layout = "split" | "unified";

/** Longer texts are not highlighted: that would need more memory than the texts themselves. */
const LONGEST_HIGHLIGHTED = 2_000_000;

export interface Place {
  text: Text;
  cursor: number;
}

export interface Options {
  review: Review;
  layout: Layout;
  /** The hunk to start at, as an index. */
  current: number;
  /** The person edited the result, or moved to another hunk. */
  changed(review: Review, hunks: Hunks, isEdit: boolean): void;
  /** The person wants to start or to stop typing. */
  wantsEditing(editing: boolean): void;
  /** The person wants to accept while typing. */
  wantsToAccept(): void;
}

export class DiffView {
  private readonly result: EditorView;
  private readonly merge: MergeView | undefined;
  private readonly diff: HunkDiff;
  private readonly editable = new Compartment();
  private readonly options: Options;
  private review: Review;

  constructor(parent: HTMLElement, options: Options) {
    const { review, layout } = options;
    this.options = options;
    this.review = review;
    this.diff = new HunkDiff(review.differences);
    const { original } = review.texts;
    const parts = unchangedParts(changesIn(review), original, review.result);
    const open = (what: Unfolding) => this.unfold(what);
    const shared = [...appearance(review), EditorState.lineSeparator.of("\n"), missingNewline];
    const result = [
      shared,
      label("result", "Result as it will be written"),
      hunksExtension(review.hunks, review.texts, options.current),
      resultBars({
        sideBySide: layout === "split",
        hasLongLines: hasLongLines(review),
        ...(isEditable(review) && { toggle: (index) => this.toggle(index) }),
        showChange: (index, place) => this.showChange(index, place),
      }),
      droppedLines(review.texts),
      folds(
        parts.map((part) => part.b),
        open,
      ),
      (review.detail.conflicts ?? 0) > 0 ? conflictMarks : [],
      this.editing(),
    ];

    if (layout === "split") {
      this.merge = new MergeView({
        parent,
        diffConfig: this.diff,
        a: {
          doc: original,
          extensions: [
            shared,
            label("original", "Original"),
            readOnly,
            originalBars(review.hunks),
            droppedGaps(review.hunks, review.texts, []),
            folds(
              parts.map((part) => part.a),
              open,
            ),
          ],
        },
        b: { doc: review.result, extensions: result },
      });
      this.result = this.merge.b;
      this.alignDropped();
    } else {
      const unified = unifiedMergeView({
        original: maskedOriginal(review),
        diffConfig: this.diff,
        mergeControls: false,
      });
      const state = EditorState.create({ doc: review.result, extensions: [result, unified] });
      this.result = new EditorView({ parent, state });
    }
  }

  get hunks(): Hunks {
    return hunksIn(this.result.state);
  }

  /** Moves to another hunk and shows it; false if there is none in that direction. */
  go(step: 1 | -1): boolean {
    const { list, current } = this.hunks;
    const next = current + step;
    if (next < 0 || next >= list.length) return false;
    this.show(next);
    return true;
  }

  /** Where the person is typing. */
  get place(): Place {
    const { doc, selection } = this.result.state;
    return { text: doc, cursor: selection.main.head };
  }

  /** Puts the cursor where it was in an older text. */
  resume({ text, cursor }: Place): void {
    const { doc } = this.result.state;
    const changes = changedLines(text.toString(), doc.toString()).map(({ a, b }) => ({
      ...a,
      insert: slice(doc, b),
    }));
    const at = ChangeSet.of(changes, text.length, "\n").mapPos(cursor, 1);
    this.result.dispatch({ selection: EditorSelection.cursor(at), scrollIntoView: true });
  }

  /** Takes what is known about the proposal now, with the same texts. */
  setDetail(detail: Detail): void {
    this.review = { ...this.review, detail };
  }

  /** Shows where the review starts. The first hunk is in sight, unless its change is far to the right. */
  start(index: number): void {
    const first = this.hunks.list[index];
    if (index > 0 || (first !== undefined && this.isLong(first.at))) this.show(index);
  }

  show(index: number): void {
    const hunk = this.hunks.list[index];
    if (hunk === undefined) return;
    if (this.isLong(hunk.at) && this.showChange(index, 0)) {
      this.result.dispatch({ effects: setCurrent.of(index) });
      return;
    }
    const above = this.merge ? 1 : linesOf(this.review.texts.original, hunk.original);
    const scroll = EditorView.scrollIntoView(hunk.at.from, {
      y: "start",
      yMargin: 80 + 20 * Math.min(above, 10),
    });
    this.result.dispatch({ effects: [setCurrent.of(index), scroll] });
  }

  /** Shows one of the changed places inside a hunk, on both sides; false if there is none. */
  private showChange(index: number, place: number): boolean {
    const hunk = this.hunks.list[index];
    const chunk = getChunks(this.result.state)?.chunks.find(({ fromB }) => fromB === hunk?.at.from);
    const change = chunk?.changes[place % (chunk.changes.length || 1)];
    if (chunk === undefined || change === undefined) return false;
    const center = (at: number) => ({
      effects: EditorView.scrollIntoView(at, { x: "center", y: "center" }),
    });
    this.result.dispatch(center(chunk.fromB + change.fromB));
    this.merge?.a.dispatch(center(chunk.fromA + change.fromA));
    return true;
  }

  /** Whether a line is so long that its changes may be out of sight. */
  private isLong({ from, to }: Span): boolean {
    const { doc } = this.result.state;
    return to > from && doc.lineAt(from).length > LONG;
  }

  /** Moves to the next conflict after the cursor, or to the first one. */
  goConflict(): void {
    const all = conflictsIn(this.result.state.doc);
    const { head } = this.result.state.selection.main;
    const next = all.find(({ from }) => from > head) ?? all[0];
    if (next === undefined) return;
    this.result.dispatch({
      selection: EditorSelection.cursor(next.from),
      effects: EditorView.scrollIntoView(next.from, { y: "start", yMargin: 80 }),
    });
  }

  /** Drops a hunk that is kept; otherwise restores it as proposed. */
  toggle(index: number): void {
    const { list, states } = this.hunks;
    const hunk = list[index];
    if (hunk === undefined) return;
    this.result.dispatch({
      changes: toggle(hunk, states[index] as HunkState, this.review.texts),
      effects: setCurrent.of(index),
      userEvent: "input.hunk",
      // One step back is one hunk.
      annotations: isolateHistory.of("full"),
    });
  }

  toggleCurrent(): void {
    this.toggle(this.hunks.current);
  }

  edit(editing: boolean): void {
    const spec: TransactionSpec = {
      effects: this.editable.reconfigure(editing ? [] : readOnly),
    };
    const hunk = this.hunks.list[this.hunks.current];
    const { head } = this.result.state.selection.main;
    if (editing && hunk && (head < hunk.at.from || head > hunk.at.to)) {
      spec.selection = EditorSelection.cursor(hunk.at.from);
    }
    this.result.dispatch(spec);
    if (editing) this.result.focus();
    else this.result.contentDOM.blur();
  }

  /** Replaces the differences by the companion's hunks for the result as it is now. */
  correct(hunks: readonly WireHunk[]): void {
    const { original } = this.review.texts;
    const differences = differencesOf(hunks, original, this.result.state.doc);
    const now = differencesIn(this.result.state);
    if (original.length === 0 || sameDifferences(differences, now)) return;
    // Equal differences stay the same objects, so that their words are not compared again.
    const known = new Map(now.map((difference) => [keyOf(difference), difference]));
    this.diff.differences = differences.map(
      (difference) => known.get(keyOf(difference)) ?? difference,
    );
    const end = { from: original.length - 1, to: original.length };
    const changes = ChangeSet.of({ ...end, insert: slice(original, end) }, original.length, "\n");
    if (this.merge) this.merge.a.dispatch({ changes });
    else this.result.dispatch({ effects: originalDocChangeEffect(this.result.state, changes) });
  }

  destroy(): void {
    if (this.merge) this.merge.destroy();
    else this.result.destroy();
  }

  private unfold(what: Unfolding): void {
    for (const view of this.merge ? [this.merge.a, this.merge.b] : [this.result]) {
      view.dispatch({ effects: unfold.of(what) });
    }
  }

  /** Leaves room beside the original for the lines that are shown of dropped hunks. */
  private alignDropped(): void {
    this.merge?.a.dispatch({ effects: setGaps.of(droppedIn(this.result.state)) });
  }

  /** Takes back the last change of the person, wherever the focus is; false if there is none. */
  undo(): boolean {
    const { state } = this.result;
    if (undoDepth(state) === 0) return false;
    const wasReadOnly = state.readOnly;
    // The history changes nothing that is read-only.
    if (wasReadOnly) this.result.dispatch({ effects: this.editable.reconfigure([]) });
    undo(this.result);
    if (wasReadOnly) this.result.dispatch({ effects: this.editable.reconfigure(readOnly) });
    return true;
  }

  /** Whether the person has changed something that can be taken back. */
  get canUndo(): boolean {
    return undoDepth(this.result.state) > 0;
  }

  private editing(): Extension {
    const { typedNewline } = this.review.format;
    const newline = {
      key: "Enter",
      run: ({ state, dispatch }: EditorView) => {
        dispatch(state.update(state.replaceSelection(typedNewline), { scrollIntoView: true }));
        return true;
      },
    };
    const leave = () => {
      this.options.wantsEditing(false);
      return true;
    };
    const accept = () => {
      this.options.wantsToAccept();
      return true;
    };
    return [
      this.editable.of(readOnly),
      history(),
      indentOnInput(),
      EditorView.clipboardInputFilter.of((text) => text.replace(/\r\n?|\n/g, typedNewline)),
      keymap.of([
        { key: "Escape", run: leave },
        ...acceptKeys(accept),
        ...(typedNewline === "\n" ? [] : [newline]),
        indentWithTab,
        ...historyKeymap,
        ...defaultKeymap,
      ]),
      EditorView.domEventHandlers({
        dblclick: (event, view) => {
          if (!view.state.readOnly) return false;
          const at = view.posAtCoords(event);
          if (at !== null) view.dispatch({ selection: EditorSelection.cursor(at) });
          this.options.wantsEditing(true);
          return true;
        },
      }),
      EditorView.updateListener.of(({ state, startState, docChanged }) => {
        const hunks = hunksIn(state);
        if (!docChanged && hunks === hunksIn(startState)) return;
        if (docChanged) {
          const differences = differencesIn(state);
          this.review = { ...this.review, result: state.doc, hunks: hunks.list, differences };
        }
        if (hunks.states !== hunksIn(startState).states) this.alignDropped();
        this.options.changed(this.review, hunks, docChanged);
      }),
    ];
  }
}

const readOnly = [EditorState.readOnly.of(true), EditorView.editable.of(false)];

function label(side: string, name: string): Extension {
  return [
    EditorView.editorAttributes.of({ "data-side": side }),
    EditorView.contentAttributes.of({ "aria-label": name }),
  ];
}

/** What both editors look like. */
function appearance(review: Review): Extension[] {
  const { texts, detail } = review;
  const special = highlightSpecialChars({
    specialChars: INVISIBLE,
    render: (code) => {
      const shown = document.createElement("span");
      shown.className = "invisible-character";
      shown.textContent = spellOut(code);
      return shown;
    },
  });
  const extensions: Extension[] = [lineNumbers(), special];
  const sides = [texts.original, texts.proposed];
  if (!hasLongLines(review)) extensions.push(EditorView.lineWrapping);
  if (sides.every((text) => text.length <= LONGEST_HIGHLIGHTED)) {
    extensions.push(languageOf(detail.path), syntaxHighlighting(classHighlighter));
  }
  return extensions;
}

function hasLongLines({ texts }: Review): boolean {
  return [texts.original, texts.proposed].some((text) => {
    for (const lines = text.iterLines(); !lines.next().done; ) {
      if (lines.value.length > LONG) return true;
    }
    return false;
  });
}

/** What must not be folded: differences, and hunks that were dropped. */
function changesIn({ hunks, differences }: Review): Pair[] {
  const all = [...differences, ...hunks.map((hunk) => ({ a: hunk.original, b: hunk.at }))];
  all.sort((one, other) => one.b.from - other.b.from || one.b.to - other.b.to);
  return all;
}

/** In one column the removed lines are plain text, in which the editor does not show invisible characters. */
function maskedOriginal({ texts, hunks }: Review): Text {
  const clean = hunks.every((hunk) => slice(texts.original, hunk.original).search(INVISIBLE) < 0);
  return clean ? texts.original : Text.of(maskInvisible(texts.original.toString()).split("\n"));
}

function keyOf({ a, b }: Pair): string {
  return [a.from, a.to, b.from, b.to].join();
}

function linesOf(text: Text, { from, to }: { from: number; to: number }): number {
  return from === to ? 0 : text.lineAt(to - 1).number - text.lineAt(from).number + 1;
}
