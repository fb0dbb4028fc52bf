/** The review that is open: its text as it stands, its diff on the screen, and the layout of the diff. */

import { computed, signal } from "@preact/signals";
import type { Detail, WireHunk } from "../api/wire";
import type { Hunks } from "../diff/hunk-field";
import type { DiffView, Layout, Place } from "../diff/view";
import { isAsProposed, isEditable, type Review } from "../review/review";
import { remember, remembered } from "./preferences";
import { isNarrow } from "./screen";

/** How the diff starts. A new object makes the view build the diff again. */
export interface Opening {
  layout: Layout;
  /** The hunk to start at, as an index. */
  current: number;
  /** Where the person was typing, to go on there once. */
  resume: Place | undefined;
}

/** With more hunks than this, keeping two columns aligned makes scrolling slow. */
const MOST_SPLIT = 500;

const LAYOUTS = ["split", "unified"] as const;

export class OpenReview {
  /** With the edits so far; undefined if none is open. */
  readonly review = signal<Review | undefined>(undefined);
  readonly opening = signal<Opening>({
    layout: "unified",
    current: -1,
    resume: undefined,
  });
  /** Undefined until the diff is on the screen. */
  readonly hunks = signal<Hunks | undefined>(undefined);
  readonly editing = signal(false);
  readonly canUndo = signal(false);
  /** The layout that the person prefers. */
  readonly layout = signal<Layout>(remembered("layout", LAYOUTS, "split"));
  /** Whether the text is not what the agent proposed. */
  readonly isChanged = computed(() => {
    const review = this.review.value;
    return review !== undefined && !isAsProposed(review);
  });

  /** The diff on the screen. */
  private view: DiffView | undefined;

  constructor(
    private readonly announce: (sentence: string) => void,
    /** A review is on the screen. */
    private readonly shown: (review: Review) => void,
  ) {
    isNarrow.subscribe(() => this.rebuild());
  }

  /** Opens a review at its first or last hunk. */
  open(review: Review, at: "first" | "last"): void {
    const last = review.hunks.length - 1;
    this.show(review, at === "first" ? Math.min(0, last) : last);
  }

  /** Replaces the open review by a newer version of it, at the same hunk. Who is typing goes on. */
  replace(review: Review): void {
    const place = this.editing.value ? this.view?.place : undefined;
    this.show(review, this.hunks.value?.current ?? 0, place);
  }

  /** Takes what is known about the proposal now, with the same texts. */
  setDetail(detail: Detail): void {
    const review = this.review.value;
    if (review === undefined) return;
    this.view?.setDetail(detail);
    this.review.value = { ...review, detail };
    this.shown(this.review.value);
  }

  close(): void {
    this.review.value = undefined;
    this.hunks.value = undefined;
    this.editing.value = false;
  }

  /** The diff was put on the screen, or taken off. */
  attach(view: DiffView | undefined): void {
    this.view = view;
    this.editing.value = false;
    this.canUndo.value = false;
    const review = this.review.peek();
    if (view === undefined || review === undefined) return;
    this.hunks.value = view.hunks;
    this.shown(review);
  }

  /** The text was changed. */
  changed(review: Review): void {
    this.review.value = review;
    this.canUndo.value = this.view?.canUndo ?? false;
  }

  /** Moves to the next or previous hunk; false if there is none. */
  go(step: 1 | -1): boolean {
    return this.view?.go(step) ?? false;
  }

  /** Moves to the next conflict. */
  goConflict(): void {
    this.view?.goConflict();
  }

  /** Takes back the last change. */
  undo(): void {
    if (this.view?.undo()) this.announce("Undone");
  }

  toggleHunk(): void {
    const review = this.review.value;
    if (review === undefined || !isEditable(review)) return;
    this.view?.toggleCurrent();
    const hunks = this.hunks.value;
    const hunk = hunks?.list[hunks.current];
    if (hunks && hunk) this.announce(`Hunk ${hunk.number} ${hunks.states[hunks.current]}`);
  }

  edit(editing: boolean): void {
    const review = this.review.value;
    if (this.view === undefined || review === undefined || !isEditable(review)) return;
    this.editing.value = editing;
    this.view.edit(editing);
  }

  setLayout(layout: Layout): void {
    remember("layout", layout);
    this.layout.value = layout;
    this.rebuild();
  }

  /** Whether both columns can be shown: not for a new file, a narrow screen or very many hunks. */
  canSplit(review: Review): boolean {
    return !isNarrow.value && !review.detail.newFile && review.hunks.length <= MOST_SPLIT;
  }

  /** Takes the companion's hunks for the text as it stands. */
  correct(proposal: number, hunks: readonly WireHunk[]): void {
    if (this.review.value?.detail.id === proposal) this.view?.correct(hunks);
  }

  private rebuild(): void {
    const review = this.review.value;
    if (review !== undefined) this.replace(review);
  }

  private show(review: Review, current: number, resume?: Place): void {
    const layout = this.canSplit(review) ? this.layout.value : "unified";
    this.review.value = review;
    this.opening.value = { layout, current, resume };
  }
}
