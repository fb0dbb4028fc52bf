/**
 * The diff on the screen: both texts side by side, or one below the other. The right
 * one is the result as it will be written, and is edited in place.
 */

import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { MergeView, originalDocChangeEffect, unifiedMergeView } from "@codemirror/merge";
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
import type { HunkAt } from "../api/wire";
import { gapsBetween } from "../review/gaps";
import { marksOf, sameMarks } from "../review/marks";
import { type PieceState, toggle } from "../review/pieces";
import { isEditable, type Sheet } from "../review/sheet";
import { type Pair, slice } from "../review/span";
import { masked, spelled, UNSEEN } from "../text/visible";
import { originalBars, resultBars } from "./bars";
import { HunkDiff, marksIn } from "./chunks";
import { finalNewline } from "./final";
import { folds, unfold } from "./folds";
import { type Hunks, hunksIn, hunksOf, setCurrent } from "./hunks";
import { languageOf } from "./language";

export type Layout = "split" | "unified";

/** Larger texts are not coloured: it would cost more memory than the texts themselves. */
const MOST_COLOURED = 2_000_000;

/** Longer lines are not wrapped: the editor shows the part of them that is in sight. */
const LONGEST_WRAPPED = 2_000;

export interface Options {
  sheet: Sheet;
  layout: Layout;
  /** The hunk to start at, as an index. */
  current: number;
  /** The person made a change, or moved to another hunk. */
  changed(sheet: Sheet, hunks: Hunks, typed: boolean): void;
  /** The person wants to start or to stop typing. */
  wantsEditing(editing: boolean): void;
}

export class DiffView {
  private readonly result: EditorView;
  private readonly merge: MergeView | undefined;
  private readonly diff: HunkDiff;
  private readonly editable = new Compartment();
  private readonly options: Options;
  private sheet: Sheet;

  constructor(parent: HTMLElement, options: Options) {
    const { sheet, layout } = options;
    this.options = options;
    this.sheet = sheet;
    this.diff = new HunkDiff(sheet.marks);
    const { original } = sheet.texts;
    const gaps = gapsBetween(changesIn(sheet), original, sheet.result);
    const open = (fold: number) => this.unfold(fold);
    const shared = [...dress(sheet), EditorState.lineSeparator.of("\n"), finalNewline];
    const result = [
      shared,
      label("result", "Result as it will be written"),
      hunksOf(sheet.pieces, sheet.texts, options.current),
      resultBars(isEditable(sheet) ? (index) => this.toggle(index) : undefined, layout === "split"),
      folds(
        gaps.map((gap) => gap.b),
        open,
      ),
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
            originalBars(sheet.pieces),
            folds(
              gaps.map((gap) => gap.a),
              open,
            ),
          ],
        },
        b: { doc: sheet.result, extensions: result },
      });
      this.result = this.merge.b;
    } else {
      const unified = unifiedMergeView({
        original: maskedOriginal(sheet),
        diffConfig: this.diff,
        mergeControls: false,
      });
      const state = EditorState.create({ doc: sheet.result, extensions: [result, unified] });
      this.result = new EditorView({ parent, state });
    }
  }

  get hunks(): Hunks {
    return hunksIn(this.result.state);
  }

  /** Moves to another hunk and shows it; false if there is none in that direction. */
  go(step: 1 | -1): boolean {
    const { pieces, current } = this.hunks;
    const next = current + step;
    if (next < 0 || next >= pieces.length) return false;
    this.show(next);
    return true;
  }

  show(index: number): void {
    const piece = this.hunks.pieces[index];
    if (piece === undefined) return;
    const above = this.merge ? 1 : linesOf(this.sheet.texts.original, piece.original);
    const scroll = EditorView.scrollIntoView(piece.at.from, {
      y: "start",
      yMargin: 80 + 20 * Math.min(above, 10),
    });
    this.result.dispatch({ effects: [setCurrent.of(index), scroll] });
  }

  /** Drops a hunk, or keeps it as it was proposed. */
  toggle(index: number): void {
    const { pieces, states } = this.hunks;
    const piece = pieces[index];
    if (piece === undefined) return;
    this.result.dispatch({
      changes: toggle(piece, states[index] as PieceState, this.sheet.texts),
      effects: setCurrent.of(index),
      userEvent: "input.hunk",
    });
  }

  toggleCurrent(): void {
    this.toggle(this.hunks.current);
  }

  edit(editing: boolean): void {
    const spec: TransactionSpec = {
      effects: this.editable.reconfigure(editing ? [] : readOnly),
    };
    const piece = this.hunks.pieces[this.hunks.current];
    const { head } = this.result.state.selection.main;
    if (editing && piece && (head < piece.at.from || head > piece.at.to)) {
      spec.selection = EditorSelection.cursor(piece.at.from);
    }
    this.result.dispatch(spec);
    if (editing) this.result.focus();
    else this.result.contentDOM.blur();
  }

  /** Takes the companion's hunks for the result as it is now. */
  correct(hunks: readonly HunkAt[]): void {
    const { original } = this.sheet.texts;
    const marks = marksOf(hunks, original, this.result.state.doc);
    const now = marksIn(this.result.state);
    if (original.length === 0 || sameMarks(marks, now)) return;
    // What is the same stays the same object, so that its words are not compared again.
    const known = new Map(now.map((mark) => [nameOf(mark), mark]));
    this.diff.marks = marks.map((mark) => known.get(nameOf(mark)) ?? mark);
    const end = { from: original.length - 1, to: original.length };
    const changes = ChangeSet.of({ ...end, insert: slice(original, end) }, original.length, "\n");
    if (this.merge) this.merge.a.dispatch({ changes });
    else this.result.dispatch({ effects: originalDocChangeEffect(this.result.state, changes) });
  }

  destroy(): void {
    if (this.merge) this.merge.destroy();
    else this.result.destroy();
  }

  private unfold(fold: number): void {
    for (const view of this.merge ? [this.merge.a, this.merge.b] : [this.result]) {
      view.dispatch({ effects: unfold.of(fold) });
    }
  }

  private editing(): Extension {
    const { typed } = this.sheet.notation;
    const newline = {
      key: "Enter",
      run: ({ state, dispatch }: EditorView) => {
        dispatch(state.update(state.replaceSelection(typed), { scrollIntoView: true }));
        return true;
      },
    };
    const leave = () => {
      this.options.wantsEditing(false);
      return true;
    };
    return [
      this.editable.of(readOnly),
      history(),
      indentOnInput(),
      EditorView.clipboardInputFilter.of((text) => text.replace(/\r\n?|\n/g, typed)),
      keymap.of([
        { key: "Escape", run: leave },
        ...(typed === "\n" ? [] : [newline]),
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
          const { pieces } = hunks;
          this.sheet = { ...this.sheet, result: state.doc, pieces, marks: marksIn(state) };
        }
        this.options.changed(this.sheet, hunks, docChanged);
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

/** How both texts look. */
function dress({ texts, detail }: Sheet): Extension[] {
  const special = highlightSpecialChars({
    specialChars: UNSEEN,
    render: (code) => {
      const shown = document.createElement("span");
      shown.className = "unseen";
      shown.textContent = spelled(code);
      return shown;
    },
  });
  const extensions: Extension[] = [lineNumbers(), special];
  const sides = [texts.original, texts.proposed];
  if (sides.every((text) => longestLine(text) <= LONGEST_WRAPPED)) {
    extensions.push(EditorView.lineWrapping);
  }
  if (sides.every((text) => text.length <= MOST_COLOURED)) {
    extensions.push(languageOf(detail.path), syntaxHighlighting(classHighlighter));
  }
  return extensions;
}

function longestLine(text: Text): number {
  let longest = 0;
  for (const lines = text.iterLines(); !lines.next().done; ) {
    longest = Math.max(longest, lines.value.length);
  }
  return longest;
}

/** Every place that must stay in sight: differences, and hunks that were dropped. */
function changesIn({ pieces, marks }: Sheet): Pair[] {
  const all = [...marks, ...pieces.map((piece) => ({ a: piece.original, b: piece.at }))];
  all.sort((one, other) => one.b.from - other.b.from || one.b.to - other.b.to);
  return all;
}

/** In one column the old lines are plain text, where the editor spells nothing out. */
function maskedOriginal({ texts, pieces }: Sheet): Text {
  const clean = pieces.every((piece) => slice(texts.original, piece.original).search(UNSEEN) < 0);
  return clean ? texts.original : Text.of(masked(texts.original.toString()).split("\n"));
}

function nameOf({ a, b }: Pair): string {
  return [a.from, a.to, b.from, b.to].join();
}

function linesOf(text: Text, { from, to }: { from: number; to: number }): number {
  return from === to ? 0 : text.lineAt(to - 1).number - text.lineAt(from).number + 1;
}
