/**
 * The table on which one proposal lies at a time: choosing it, what the person makes
 * of it, and deciding it. What was typed is never lost: if the proposal goes away
 * under the person, its text stays until they dismiss it.
 */

import { computed, signal } from "@preact/signals";
import { type Client, Problem } from "../api/client";
import type { Decided, Detail, HunkAt, Proposal, Why } from "../api/wire";
import type { Hunks } from "../diff/hunks";
import type { DiffView, Layout } from "../diff/view";
import { fetchEditor } from "../later";
import { isAsProposed, isEditable, type Sheet, textOf } from "../review/sheet";
import { splitPath, visible } from "../text/visible";
import { Drafts } from "./drafts";
import { remember, remembered } from "./preferences";
import { isNarrow } from "./screen";
import { successor } from "./situation";

export type Panel =
  | { kind: "empty" }
  | { kind: "loading"; proposal: Proposal }
  | { kind: "failed"; proposal: Proposal; message: string }
  | { kind: "open"; proposal: Proposal; opening: Opening }
  | ({ kind: "closed" } & Kept);

/** What the person wrote in a proposal that went away under them. */
export interface Kept {
  proposal: Proposal;
  why: Why | undefined;
  text: string;
}

/** How the sheet on the table is to be shown; a new one has the diff built anew. */
export interface Opening {
  layout: Layout;
  /** The hunk to start at. */
  current: number;
}

/** With more hunks than this, keeping two columns level takes too long to scroll. */
const MOST_SPLIT = 500;

const LAYOUTS = ["split", "unified"] as const;

export class Table {
  readonly panel = signal<Panel>({ kind: "empty" });
  /** The open sheet as it is now. */
  readonly sheet = signal<Sheet | undefined>(undefined);
  readonly hunks = signal<Hunks | undefined>(undefined);
  readonly editing = signal(false);
  readonly layout = signal<Layout>(remembered("layout", LAYOUTS, "split"));
  /** Why the last decision was not carried out. */
  readonly refusal = signal<string | undefined>(undefined);
  readonly deciding = signal(false);
  /** Until the person dismisses them. */
  readonly kept = signal<readonly Kept[]>([]);
  readonly selected = computed(() => {
    const panel = this.panel.value;
    return panel.kind === "empty" ? undefined : panel.proposal.id;
  });

  /** The diff on the screen. */
  private view: DiffView | undefined;
  private readonly sheets = new Map<number, Sheet>();
  private readonly drafts: Drafts;
  private proposals: readonly Proposal[] = [];
  /** The proposal that is being decided here. */
  private own: number | undefined;

  constructor(
    private readonly client: Client,
    private readonly announce: (sentence: string) => void,
  ) {
    this.drafts = new Drafts(
      client,
      (id, hunks) => this.corrected(id, hunks),
      (id) => this.closed(id, undefined),
    );
    isNarrow.subscribe(() => this.reopen());
  }

  /** Whether the open text is not what the agent proposed. */
  readonly isChanged = computed(() => {
    const sheet = this.sheet.value;
    return sheet !== undefined && !isAsProposed(sheet);
  });

  /** The list of pending proposals is another one now. */
  update(proposals: readonly Proposal[]): void {
    this.proposals = proposals;
    if (this.panel.value.kind === "empty" && proposals[0]) this.select(proposals[0].id);
  }

  /** Everything was fetched again: whatever is not pending any more is closed. */
  refresh(proposals: readonly Proposal[]): void {
    const there = new Set(proposals.map(({ id }) => id));
    this.drafts.forgetEchoes();
    for (const id of this.sheets.keys()) if (!there.has(id)) this.closed(id, undefined);
    const selected = this.selected.value;
    if (selected !== undefined && !there.has(selected)) this.closed(selected, undefined);
    for (const id of there) this.changedElsewhere(id);
    // What is chosen from here on is fetched anyway.
    this.update(proposals);
  }

  select(id: number, at: "first" | "last" = "first"): void {
    const proposal = this.proposals.find((one) => one.id === id);
    if (proposal === undefined || (id === this.selected.value && this.isReady())) return;
    this.leave();
    const sheet = this.sheets.get(id);
    if (sheet !== undefined) this.open(proposal, sheet, at);
    else void this.load(proposal, at);
  }

  /** The next or previous proposal; false if there is none. */
  go(step: 1 | -1, at: "first" | "last" = "first"): boolean {
    const index = this.proposals.findIndex(({ id }) => id === this.selected.value);
    const next = this.proposals[index + step];
    if (next === undefined) return false;
    this.select(next.id, at);
    return true;
  }

  /** The next or previous hunk, and on to the next or previous proposal. */
  goHunk(step: 1 | -1): void {
    if (this.view?.go(step)) return;
    if (!this.go(step, step === 1 ? "first" : "last")) {
      this.announce(step === 1 ? "This is the last hunk" : "This is the first hunk");
    }
  }

  toggleHunk(): void {
    const sheet = this.sheet.value;
    if (sheet === undefined || !isEditable(sheet)) return;
    this.view?.toggleCurrent();
    const hunks = this.hunks.value;
    const piece = hunks?.pieces[hunks.current];
    if (hunks && piece) this.announce(`Hunk ${piece.id} ${hunks.states[hunks.current]}`);
  }

  edit(editing: boolean): void {
    const sheet = this.sheet.value;
    if (this.view === undefined || sheet === undefined || !isEditable(sheet)) return;
    this.editing.value = editing;
    this.view.edit(editing);
  }

  setLayout(layout: Layout): void {
    remember("layout", layout);
    this.layout.value = layout;
    this.reopen();
  }

  /** The diff is on the screen, or is taken off. */
  attach(view: DiffView | undefined): void {
    this.view = view;
    this.editing.value = false;
    if (view !== undefined) this.hunks.value = view.hunks;
  }

  /** The person changed the result or moved in it. */
  touched(sheet: Sheet, hunks: Hunks, typed: boolean): void {
    this.hunks.value = hunks;
    if (!typed) return;
    this.sheet.value = sheet;
    this.refusal.value = undefined;
    this.sheets.set(sheet.detail.id, sheet);
    this.drafts.put(sheet.detail.id, () => textOf(sheet), sheet.result.length);
  }

  /** Another front end put a draft, or we did. */
  changed(id: number): void {
    if (this.drafts.isForeign(id)) this.changedElsewhere(id);
  }

  /** A proposal is not pending any more. */
  closed(id: number, why: Why | undefined): void {
    const sheet = this.sheets.get(id);
    const proposal = this.proposals.find((one) => one.id === id);
    // What was accepted elsewhere is what stood here, if all of it had been sent.
    const taken = id === this.own || (why === "accepted" && !this.drafts.isPending(id));
    this.drafts.forget(id);
    this.sheets.delete(id);
    const before = this.proposals;
    this.proposals = before.filter((one) => one.id !== id);
    const isShown = this.selected.value === id && this.panel.value.kind !== "closed";
    if (proposal !== undefined && sheet !== undefined && !isAsProposed(sheet) && !taken) {
      this.kept.value = [...this.kept.value, { proposal, why, text: textOf(sheet) }];
      if (isShown) this.showKept(id);
    } else if (isShown) {
      this.turnTo(successor(before, this.proposals, id));
    }
  }

  showKept(id: number): void {
    const kept = this.kept.value.find(({ proposal }) => proposal.id === id);
    if (kept === undefined) return;
    this.leave();
    this.panel.value = { kind: "closed", ...kept };
  }

  /** Whether that proposal is being decided here. */
  isDeciding(id: number): boolean {
    return this.own === id;
  }

  /** The person has taken their text from a proposal that was closed. */
  dismiss(): void {
    const id = this.selected.value;
    this.kept.value = this.kept.value.filter(({ proposal }) => proposal.id !== id);
    this.turnTo(this.proposals[0]?.id);
  }

  async accept(): Promise<void> {
    const sheet = this.sheet.value;
    if (sheet === undefined || sheet.detail.terminal_only !== undefined) return;
    const { id } = sheet.detail;
    await this.decide(sheet.detail, "Accepted", () => this.client.accept(id, textOf(sheet)));
  }

  async reject(): Promise<void> {
    const panel = this.panel.value;
    if (panel.kind !== "open" && panel.kind !== "failed") return;
    const { proposal } = panel;
    await this.decide(proposal, "Rejected", () => this.client.reject(proposal.id));
  }

  private async decide(
    proposal: Proposal,
    verb: string,
    ask: () => Promise<Decided>,
  ): Promise<void> {
    if (this.deciding.value) return;
    this.deciding.value = true;
    this.own = proposal.id;
    this.refusal.value = undefined;
    try {
      const { agent, streaming } = await ask();
      const away = streaming ? "" : `; ${visible(agent)} is away and will be told`;
      this.announce(`${verb} ${splitPath(proposal.path).name}${away}`);
      this.closed(proposal.id, undefined);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.own = undefined;
      if (error.gone) this.closed(proposal.id, undefined);
      else this.refusal.value = error.message;
    } finally {
      this.own = undefined;
      this.deciding.value = false;
    }
  }

  private isReady(): boolean {
    return this.panel.value.kind === "open" || this.panel.value.kind === "loading";
  }

  private leave(): void {
    this.sheet.value = undefined;
    this.hunks.value = undefined;
    this.refusal.value = undefined;
    this.editing.value = false;
  }

  private turnTo(id: number | undefined): void {
    this.leave();
    this.panel.value = { kind: "empty" };
    const [kept] = this.kept.value;
    if (id !== undefined) this.select(id);
    else if (kept !== undefined) this.showKept(kept.proposal.id);
  }

  private async load(proposal: Proposal, at: "first" | "last"): Promise<void> {
    const loading: Panel = { kind: "loading", proposal };
    this.panel.value = loading;
    try {
      const [detail, { sheetOf }] = await Promise.all([
        this.client.detail(proposal.id),
        fetchEditor(),
      ]);
      if (this.panel.value === loading) this.open(proposal, sheetOf(detail), at);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (this.panel.value !== loading) return;
      if (error.gone) this.closed(proposal.id, undefined);
      else this.panel.value = { kind: "failed", proposal, message: error.message };
    }
  }

  private open(proposal: Proposal, sheet: Sheet, at: "first" | "last" | number): void {
    const last = sheet.pieces.length - 1;
    const current = at === "first" ? Math.min(0, last) : at === "last" ? last : at;
    const layout = this.canSplit(sheet) ? this.layout.value : "unified";
    this.sheet.value = sheet;
    this.panel.value = { kind: "open", proposal, opening: { layout, current } };
  }

  /** Nothing stands beside a new file, nor on a phone, nor do thousands of hunks stay level. */
  canSplit(sheet: Sheet): boolean {
    return !isNarrow.value && !sheet.detail.new_file && sheet.pieces.length <= MOST_SPLIT;
  }

  /** Shows the open sheet as it is now, in another layout. */
  private reopen(): void {
    const panel = this.panel.value;
    const sheet = this.sheet.value;
    if (panel.kind !== "open" || sheet === undefined) return;
    this.open(panel.proposal, sheet, this.hunks.value?.current ?? 0);
  }

  private corrected(id: number, hunks: HunkAt[]): void {
    if (this.sheet.value?.detail.id === id) this.view?.correct(hunks);
  }

  private changedElsewhere(id: number): void {
    if (this.drafts.isPending(id)) return;
    if (this.selected.value !== id) {
      this.sheets.delete(id);
      return;
    }
    void this.client
      .detail(id)
      .then((detail) => this.takeOver(detail))
      // A proposal that is gone is announced, and a companion that is gone shows.
      .catch(() => undefined);
  }

  private async takeOver(detail: Detail): Promise<void> {
    const { sheetOf } = await fetchEditor();
    const panel = this.panel.value;
    const sheet = this.sheet.value;
    if (panel.kind !== "open" || sheet?.detail.id !== detail.id) return;
    if (this.drafts.isPending(detail.id) || textOf(sheet) === (detail.current ?? detail.proposed)) {
      return;
    }
    this.sheets.delete(detail.id);
    this.open(panel.proposal, sheetOf(detail), this.hunks.value?.current ?? 0);
    this.announce("Taken over from another window");
  }
}
