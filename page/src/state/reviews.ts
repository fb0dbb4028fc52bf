/**
 * Reviewing: which proposal is selected, what the person changed in each one, and the
 * decisions. What was typed is never lost: if a proposal is closed while it is edited,
 * its text is kept until the person dismisses it.
 */

import { computed, signal } from "@preact/signals";
import { ApiError, type Client } from "../api/client";
import type { CloseReason, Decided, Detail, Proposal } from "../api/wire";
import type { Hunks } from "../diff/hunk-field";
import { type EditorBundle, loadEditor } from "../load-editor";
import { obstacleTo } from "../review/obstacle";
import { isAsProposed, type Review, textOf } from "../review/review";
import { splitPath, visible } from "../text/visible";
import { successor } from "./companion";
import { Drafts } from "./drafts";
import { type KeptText, KeptTexts } from "./kept-texts";
import { OpenReview } from "./open-review";
import { Readings } from "./readings";
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
  /** The number of the kept text that is shown. */
  readonly shownKept = computed(() => {
    const panel = this.panel.value;
    return panel.kind === "closed" ? panel.number : undefined;
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
  private readonly readings = new Readings();
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

  /** The list comes from a new snapshot, perhaps of a new companion, and events may have been missed. */
  refresh(proposals: readonly Proposal[], isRestarted: boolean): void {
    const isSame = (before: Proposal) =>
      proposals.some(
        // A new companion may give the number to another proposal.
        ({ id, session, path }) =>
          id === before.id && session === before.session && path === before.path,
      );
    this.drafts.forgetEchoes();
    for (const before of this.proposals) {
      if (!isSame(before)) this.closed(before.id, undefined);
    }
    for (const { id } of proposals) {
      if (isRestarted && this.isEdited(id)) this.bringBack(id);
      else this.changedElsewhere(id);
    }
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
      const { number } = this.kept.add({ proposal, why, text: textOf(review) });
      if (wasShown) this.showKept(number);
    } else if (wasShown) {
      this.selectOrEmpty(successor(before, this.proposals, id));
    }
  }

  showKept(number: number): void {
    const kept = this.kept.find(number);
    if (kept === undefined) return;
    this.leave();
    this.panel.value = { kind: "closed", ...kept };
  }

  /** The person does not need the kept text that is shown any more. */
  dismissKept(): void {
    if (this.panel.value.kind === "closed") this.kept.remove(this.panel.value.number);
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
    return this.decideAll(this.several.choice.value.acceptable, async ({ id, revision }) => {
      // What this tab has not sent yet counts, too.
      const edited = this.edited.get(id);
      if (edited === undefined) {
        return this.decideUnseen(id, () => this.client.acceptAsItStands(id, revision));
      }
      const obstacle = obstacleTo(edited);
      if (obstacle !== undefined) return obstacle.words;
      // Neither a text that the dialog has not shown, nor one that lacks what it has shown.
      const seen = Math.min(revision, edited.detail.revision);
      return this.decideUnseen(id, () => this.client.accept(id, textOf(edited), seen));
    });
  }

  rejectAll(): Promise<void> {
    return this.decideAll(this.several.choice.value.proposals, ({ id }) =>
      this.decideUnseen(id, () => this.client.reject(id)),
    );
  }

  private decideAll(
    proposals: readonly Proposal[],
    decide: (proposal: Proposal) => Promise<string | undefined>,
  ): Promise<void> {
    return this.several.decide(proposals, decide, () => this.proposals);
  }

  /** Why it could not be decided. One that was closed meanwhile is no failure. */
  private async decideUnseen(
    id: number,
    request: () => Promise<Decided>,
  ): Promise<string | undefined> {
    this.decided = id;
    try {
      await request();
      this.closed(id, undefined);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (!error.gone) return error.message;
      this.decided = undefined;
      this.closed(id, undefined);
    } finally {
      this.decided = undefined;
    }
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
    else if (kept !== undefined) this.showKept(kept.number);
  }

  private async load(proposal: Proposal, at: "first" | "last"): Promise<void> {
    const loading: Panel = { kind: "loading", proposal };
    this.panel.value = loading;
    try {
      const [detail, { reviewOf }] = await Promise.all([
        this.client.detail(proposal.id),
        loadEditor(),
      ]);
      if (this.panel.value !== loading) return;
      this.drafts.settle(proposal.id, textIn(detail));
      this.show(proposal, reviewOf(detail), at);
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

  /** The review of a proposal that is open or was edited. */
  private present(id: number): Review | undefined {
    const open = this.open.review.value;
    return open?.detail.id === id ? open : this.edited.get(id);
  }

  /** Whether somebody has edited what is known of a proposal here. */
  private isEdited(id: number): boolean {
    const review = this.present(id);
    return this.edited.has(id) || (review !== undefined && !isAsProposed(review));
  }

  /** Another client may have put a draft. What this tab has not sent yet wins over it. */
  private changedElsewhere(id: number): void {
    if (this.drafts.isPending(id)) return;
    if (this.selected.value === id || this.edited.has(id)) void this.readAgain(id);
  }

  /** Brings an edited text into a new companion: drafts end with the companion that had them. */
  private bringBack(id: number): void {
    const review = this.present(id);
    if (review === undefined) return;
    this.drafts.settle(id, review.detail.proposed);
    void this.readAgain(id);
  }

  /** Shows what the companion has of a proposal now, with all that the person has typed. */
  private readAgain(id: number): Promise<void> {
    return this.readings.start(id, async (isOutdated) => {
      await this.drafts.hold(id);
      try {
        const [detail, bundle] = await Promise.all([this.client.detail(id), loadEditor()]);
        if (!isOutdated()) this.takeOver(detail, bundle);
      } catch (error) {
        // If the proposal is closed, an event says so; if the companion is gone, the connection does.
        if (!(error instanceof ApiError)) throw error;
        if (!error.gone) this.putAgain(id);
      } finally {
        this.drafts.release(id);
      }
    });
  }

  private takeOver(detail: Detail, { reviewOf, rebased }: EditorBundle): void {
    const { id } = detail;
    const before = this.present(id);
    if (before === undefined) return;
    const isOpen = before === this.open.review.value;
    const mine = textOf(before);
    const newer = textIn(detail);
    const base = this.drafts.known(id) ?? textIn(before.detail);
    const joined = mine === base || mine === newer ? newer : rebased(base, mine, newer);
    if (joined === undefined) this.keep(detail, mine);
    const text = joined ?? newer;
    const isShown = isOpen && text === mine && isSameOriginal(before.detail, detail);
    const now = isShown
      ? { ...before, detail: isNews(before.detail, detail) ? detail : before.detail }
      : reviewOf(text === newer ? detail : { ...withoutDraft(detail), current: text });

    this.drafts.settle(id, newer);
    if (text !== newer) this.drafts.put(id, detail.revision, () => text, text.length);
    const isEdited = text !== newer || (this.edited.has(id) && !isAsProposed(now));
    if (joined !== undefined && isEdited) this.edited.set(id, now);
    else this.edited.delete(id);

    if (isShown) {
      if (now.detail !== before.detail) this.open.setDetail(detail);
    } else if (isOpen) {
      this.open.replace(now);
      this.announce(
        isSameOriginal(before.detail, detail)
          ? "Taken over from another window"
          : `${splitPath(detail.path).name} was brought up to date; look at it again`,
      );
    }
  }

  /** Sends a text that the companion may not have. */
  private putAgain(id: number): void {
    const review = this.present(id);
    if (review === undefined || textOf(review) === this.drafts.known(id)) return;
    this.drafts.put(id, review.detail.revision, () => textOf(review), review.result.length);
  }

  /** Keeps a text of the person that could not be brought into the newer one. */
  private keep(proposal: Proposal, text: string): void {
    this.kept.add({ proposal, why: "revised", text });
    const words =
      "The same lines were changed elsewhere. Your text is kept, at the end of the queue.";
    if (this.open.review.value?.detail.id === proposal.id) this.refusal.value = words;
    else this.announce(`${splitPath(proposal.path).name}: ${words}`);
  }
}

/** The text as it stands for the companion. */
function textIn(detail: Detail): string {
  return detail.current ?? detail.proposed;
}

/** What the person is told about a proposal beside its texts. */
const TOLD = [
  "revision",
  "stale",
  "conflicts",
  "editable",
  "withheld",
  "terminalOnly",
  "who",
] as const;

/** Whether something else is known about a proposal, with the same texts. */
function isNews(before: Detail, now: Detail): boolean {
  return TOLD.some((name) => before[name] !== now[name]);
}

/** Whether the diffs of two versions of a proposal have the same beginnings. */
function isSameOriginal(one: Detail, other: Detail): boolean {
  return one.original === other.original && one.proposed === other.proposed;
}

function withoutDraft({ current, currentHunksAt, ...detail }: Detail): Detail {
  return detail;
}
