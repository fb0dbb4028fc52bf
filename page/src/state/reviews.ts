/**
 * Reviewing: which proposal is selected, what the person changed in each one, and the
 * decisions. What was typed is never lost: if a proposal is closed while it is edited,
 * its text is kept until the person dismisses it.
 */

import { computed, signal } from "@preact/signals";
import { ApiError, type Client } from "../api/client";
import type { CloseReason, Decided, Detail, Proposal } from "../api/wire";
import type { Hunks } from "../diff/hunk-field";
import { loadEditor } from "../load-editor";
import { obstacleTo } from "../review/obstacle";
import { isAsProposed, type Review, textOf } from "../review/review";
import { splitPath, visible } from "../text/visible";
import { successor } from "./companion";
import { Drafts } from "./drafts";
import { type KeptText, KeptTexts } from "./kept-texts";
import { OpenReview } from "./open-review";
import { Settling } from "./settling";
import { Several } from "./several";

/** What is shown beside the queue. */
export type Panel =
  | { kind: "empty" }
  | { kind: "loading"; proposal: Proposal }
  | { kind: "failed"; proposal: Proposal; message: string }
  | { kind: "open"; proposal: Proposal }
  | ({ kind: "closed" } & KeptText);

export class Reviews {
  readonly panel = signal<Panel>({ kind: "empty" });
  readonly selected = computed(() => {
    const panel = this.panel.value;
    return panel.kind === "empty" ? undefined : panel.proposal.id;
  });
  readonly open: OpenReview;
  readonly kept = new KeptTexts();
  readonly several = new Several();
  /** What keeps the open proposal from being accepted. */
  readonly obstacle = computed(() => {
    const review = this.open.review.value;
    return review === undefined ? undefined : obstacleTo(review);
  });
  /** Whether what is shown has been there for long enough to be decided. */
  readonly isSettled = computed(() => {
    const panel = this.panel.value;
    const shown = panel.kind === "open" ? this.open.review.value?.detail : panel;
    return shown !== undefined && this.settling.isSettled(shown);
  });
  /** Why the last decision was not carried out. */
  readonly refusal = signal<string | undefined>(undefined);
  /** Whether a decision is on its way. */
  readonly deciding = signal(false);

  /** Reviews with edits, by proposal. */
  private readonly edited = new Map<number, Review>();
  private readonly drafts: Drafts;
  private readonly settling = new Settling();
  private proposals: readonly Proposal[] = [];
  /** The proposal that is being decided in this tab. */
  private decided: number | undefined;

  constructor(
    private readonly client: Client,
    private readonly announce: (sentence: string) => void,
  ) {
    this.open = new OpenReview(announce, (review) => this.settling.begin(review.detail));
    this.drafts = new Drafts(
      client,
      (id, hunks) => this.open.correct(id, hunks),
      (id) => this.closed(id, undefined),
    );
  }

  /** The list of pending proposals has changed. */
  update(proposals: readonly Proposal[]): void {
    this.proposals = proposals;
    const panel = this.panel.value;
    const newer = proposals.find(({ id }) => id === this.selected.value);
    if (panel.kind === "open" && newer !== undefined && newer !== panel.proposal) {
      this.panel.value = { ...panel, proposal: newer };
    }
    if (this.panel.value.kind === "empty" && proposals[0]) this.select(proposals[0].id);
  }

  /** The list comes from a new snapshot, and events may have been missed. */
  refresh(proposals: readonly Proposal[]): void {
    const pending = new Set(proposals.map(({ id }) => id));
    this.drafts.forgetEchoes();
    for (const id of this.edited.keys()) if (!pending.has(id)) this.closed(id, undefined);
    const selected = this.selected.value;
    if (selected !== undefined && !pending.has(selected)) this.closed(selected, undefined);
    for (const id of pending) this.changedElsewhere(id);
    // Last, because a proposal that is selected by it is loaded anyway.
    this.update(proposals);
  }

  select(id: number, at: "first" | "last" = "first"): void {
    const proposal = this.proposals.find((one) => one.id === id);
    if (proposal === undefined || (id === this.selected.value && this.isShown())) return;
    this.leave();
    const review = this.edited.get(id);
    if (review !== undefined) this.show(proposal, review, at);
    else void this.load(proposal, at);
  }

  /** Selects the next or previous proposal, from the last on to the first; false if there is no other. */
  go(step: 1 | -1, at: "first" | "last" = "first"): boolean {
    const index = this.proposals.findIndex(({ id }) => id === this.selected.value);
    const next = this.proposals.at((index + step) % this.proposals.length);
    if (next === undefined || next.id === this.selected.value) return false;
    this.select(next.id, at);
    return true;
  }

  /** Moves to the next or previous hunk, and on to the next or previous proposal. */
  goHunk(step: 1 | -1): void {
    if (this.open.go(step)) return;
    if (!this.go(step, step === 1 ? "first" : "last")) {
      this.announce(step === 1 ? "This is the last hunk" : "This is the first hunk");
    }
  }

  /** The person changed the open text, or moved to another hunk in it. */
  touched(review: Review, hunks: Hunks, isEdit: boolean): void {
    this.open.hunks.value = hunks;
    if (!isEdit) return;
    this.open.changed(review);
    this.refusal.value = undefined;
    this.edited.set(review.detail.id, review);
    const { id, revision } = review.detail;
    this.drafts.put(id, revision, () => textOf(review), review.result.length);
  }

  /** A draft was put, by this tab or by another client. */
  changed(id: number): void {
    if (this.drafts.isForeign(id)) this.changedElsewhere(id);
  }

  /** The texts of a proposal were made new, or what is known about it has changed. */
  revised(proposal: Proposal): void {
    const { id } = proposal;
    this.proposals = this.proposals.map((one) => (one.id === id ? proposal : one));
    const panel = this.panel.value;
    if (panel.kind === "open" && panel.proposal.id === id)
      this.panel.value = { ...panel, proposal };
    if (this.selected.value === id || this.edited.has(id)) void this.readAgain(id);
  }

  /** A proposal is not pending any more. */
  closed(id: number, why: CloseReason | undefined): void {
    const review = this.edited.get(id);
    const proposal = this.proposals.find((one) => one.id === id);
    // Whoever accepted it elsewhere took the draft of this tab, if all of it had been sent.
    const taken = id === this.decided || (why === "accepted" && !this.drafts.isPending(id));
    this.drafts.forget(id);
    this.edited.delete(id);
    const before = this.proposals;
    this.proposals = before.filter((one) => one.id !== id);
    const wasShown = this.selected.value === id && this.panel.value.kind !== "closed";
    if (proposal !== undefined && review !== undefined && !isAsProposed(review) && !taken) {
      this.kept.add({ proposal, why, text: textOf(review) });
      if (wasShown) this.showKept(id);
    } else if (wasShown) {
      this.selectOrEmpty(successor(before, this.proposals, id));
    }
  }

  showKept(id: number): void {
    const kept = this.kept.find(id);
    if (kept === undefined) return;
    this.leave();
    this.panel.value = { kind: "closed", ...kept };
  }

  /** The person does not need the kept text that is shown any more. */
  dismissKept(): void {
    this.kept.remove(this.selected.value);
    this.selectOrEmpty(this.proposals[0]?.id);
  }

  /** Whether that proposal is being decided in this tab. */
  isDeciding(id: number): boolean {
    return this.decided === id;
  }

  async accept(): Promise<void> {
    const review = this.open.review.value;
    if (review === undefined || !this.isSettled.value) return;
    const obstacle = this.obstacle.value;
    if (obstacle !== undefined) {
      this.announce(obstacle.words);
      return;
    }
    const { id, revision } = review.detail;
    await this.decide(review.detail, "Accepted", () =>
      this.client.accept(id, textOf(review), revision),
    );
  }

  async reject(): Promise<void> {
    const panel = this.panel.value;
    if ((panel.kind !== "open" && panel.kind !== "failed") || !this.isSettled.value) return;
    const { proposal } = panel;
    await this.decide(proposal, "Rejected", () => this.client.reject(proposal.id));
  }

  /** Opens the summary of all pending proposals. */
  summarise(): void {
    if (this.proposals.length > 0) this.several.open(this.proposals);
  }

  acceptAll(): Promise<void> {
    return this.several.decide(this.several.choice.value.acceptable, ({ id, revision }) => {
      // What this tab has not sent yet counts, too.
      const edited = this.edited.get(id);
      return this.decideUnseen(id, () =>
        edited === undefined
          ? this.client.acceptAsItStands(id, revision)
          : this.client.accept(id, textOf(edited), edited.detail.revision),
      );
    });
  }

  rejectAll(): Promise<void> {
    return this.several.decide(this.several.choice.value.proposals, ({ id }) =>
      this.decideUnseen(id, () => this.client.reject(id)),
    );
  }

  /** Why it could not be decided. One that was closed meanwhile is no failure. */
  private async decideUnseen(
    id: number,
    request: () => Promise<Decided>,
  ): Promise<string | undefined> {
    this.decided = id;
    try {
      await request();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (!error.gone) return error.message;
    } finally {
      this.decided = undefined;
    }
    this.closed(id, undefined);
    return undefined;
  }

  private async decide(
    proposal: Proposal,
    verb: string,
    request: () => Promise<Decided>,
  ): Promise<void> {
    if (this.deciding.value) return;
    this.deciding.value = true;
    this.decided = proposal.id;
    this.refusal.value = undefined;
    try {
      const { agent, streaming } = await request();
      const away = streaming ? "" : `; ${visible(agent)} is away and will be told`;
      this.announce(`${verb} ${splitPath(proposal.path).name}${away}`);
      this.closed(proposal.id, undefined);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.decided = undefined;
      if (error.gone) this.closed(proposal.id, undefined);
      else this.refusal.value = `Not ${verb.toLowerCase()}: ${visible(error.message)}`;
      if (error.stale) void this.readAgain(proposal.id);
    } finally {
      this.decided = undefined;
      this.deciding.value = false;
    }
  }

  private isShown(): boolean {
    return this.panel.value.kind === "open" || this.panel.value.kind === "loading";
  }

  private leave(): void {
    this.open.close();
    this.refusal.value = undefined;
  }

  private selectOrEmpty(id: number | undefined): void {
    this.leave();
    this.panel.value = { kind: "empty" };
    const [kept] = this.kept.all.value;
    if (id !== undefined) this.select(id);
    else if (kept !== undefined) this.showKept(kept.proposal.id);
  }

  private async load(proposal: Proposal, at: "first" | "last"): Promise<void> {
    const loading: Panel = { kind: "loading", proposal };
    this.panel.value = loading;
    try {
      const [detail, { reviewOf }] = await Promise.all([
        this.client.detail(proposal.id),
        loadEditor(),
      ]);
      if (this.panel.value === loading) this.show(proposal, reviewOf(detail), at);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (this.panel.value !== loading) return;
      if (error.gone) this.closed(proposal.id, undefined);
      else {
        const failed: Panel = { kind: "failed", proposal, message: error.message };
        this.panel.value = failed;
        this.settling.begin(failed);
      }
    }
  }

  private show(proposal: Proposal, review: Review, at: "first" | "last"): void {
    this.open.open(review, at);
    this.panel.value = { kind: "open", proposal };
    // Without a diff there is nothing to wait for.
    if (proposal.terminalOnly !== undefined) this.settling.begin(review.detail);
  }

  /** Another client may have put a draft. What this tab has not sent yet wins over it. */
  private changedElsewhere(id: number): void {
    if (this.drafts.isPending(id)) return;
    if (this.selected.value !== id) {
      this.edited.delete(id);
      return;
    }
    void this.client
      .detail(id)
      .then((detail) => this.takeOver(detail))
      // If the proposal is closed, an event says so; if the companion is gone, the connection does.
      .catch(() => undefined);
  }

  private async takeOver(detail: Detail): Promise<void> {
    const { reviewOf } = await loadEditor();
    const review = this.open.review.value;
    if (this.panel.value.kind !== "open" || review?.detail.id !== detail.id) return;
    if (this.drafts.isPending(detail.id)) return;
    if (isSameText(review, detail)) {
      if (isNews(review.detail, detail)) this.open.setDetail(detail);
      return;
    }
    this.edited.delete(detail.id);
    this.open.replace(reviewOf(detail));
    this.announce("Taken over from another window");
  }

  /** Shows the texts of a proposal that were made new, with all that the person has typed. */
  private async readAgain(id: number): Promise<void> {
    const received = await this.drafts.hold(id);
    try {
      const [detail, { reviewOf, rebased }] = await Promise.all([
        this.client.detail(id),
        loadEditor(),
      ]);
      // Read only now: the person may have typed meanwhile.
      await this.drafts.hold(id);
      const isOpen = this.open.review.value?.detail.id === id;
      const before = isOpen ? this.open.review.value : this.edited.get(id);
      if (before === undefined) return;
      const mine = textOf(before);
      const newer = detail.current ?? detail.proposed;
      const base = received ?? before.detail.current ?? before.detail.proposed;
      const joined = mine === base ? newer : rebased(base, mine, newer);
      if (joined === undefined) this.keep(detail, mine);
      const text = joined ?? newer;
      const isShown = isOpen && text === mine && isSameOriginal(before.detail, detail);
      const now = isShown
        ? { ...before, detail }
        : reviewOf(text === newer ? detail : { ...withoutDraft(detail), current: text });
      // What was sent so far counts for the older texts.
      this.drafts.forget(id);
      this.edited.delete(id);
      if (text !== newer) {
        this.edited.set(id, now);
        this.drafts.put(id, detail.revision, () => text, text.length);
      }
      if (isShown) this.open.setDetail(detail);
      else if (isOpen) {
        this.open.replace(now);
        this.announce(`${splitPath(detail.path).name} was brought up to date; look at it again`);
      }
    } catch (error) {
      // If the proposal is closed, an event says so; if the companion is gone, the connection does.
      if (!(error instanceof ApiError)) throw error;
    }
  }

  /** Keeps a text of the person that could not be brought into the newer one. */
  private keep(proposal: Proposal, text: string): void {
    this.kept.add({ proposal, why: "revised", text });
    this.refusal.value =
      "The same lines were changed elsewhere. Your text is kept, at the end of the queue.";
  }
}

/** Whether a review shows the texts that the companion has. */
function isSameText(review: Review, detail: Detail): boolean {
  return (
    review.detail.revision === detail.revision &&
    textOf(review) === (detail.current ?? detail.proposed)
  );
}

/** Whether more is known about a proposal, with the same texts. */
function isNews(before: Detail, now: Detail): boolean {
  return before.stale !== now.stale || before.conflicts !== now.conflicts;
}

/** Whether the diffs of two versions of a proposal have the same beginnings. */
function isSameOriginal(one: Detail, other: Detail): boolean {
  return one.original === other.original && one.proposed === other.proposed;
}

function withoutDraft({ current, currentHunksAt, ...detail }: Detail): Detail {
  return detail;
}
