/**
 * What the person makes of a proposal, told to the companion a moment after each
 * change: an agent that takes the proposal back gets it, and other tabs show it.
 */

import { type Client, Problem } from "../api/client";
import type { HunkAt } from "../api/wire";

/** After this many milliseconds without a change a draft is sent, */
const CALM = 200;

/** and one more for every so many characters, because a large one takes its time. */
const PER_CHARACTERS = 5_000;

/** After this many milliseconds a draft that was not taken is sent again. */
const PATIENCE = 2_000;

interface Draft {
  text: () => string;
  calm: number;
  timer: ReturnType<typeof setTimeout> | undefined;
  sending: boolean;
  /** Announcements of our own drafts that are still to come. */
  echoes: number;
}

export class Drafts {
  private readonly drafts = new Map<number, Draft>();

  constructor(
    private readonly client: Client,
    private readonly answered: (id: number, hunks: HunkAt[]) => void,
    private readonly gone: (id: number) => void,
  ) {}

  /** Sends `text` soon, unless another one follows. */
  put(id: number, text: () => string, length: number): void {
    const draft = this.draft(id);
    draft.text = text;
    draft.calm = CALM + length / PER_CHARACTERS;
    this.schedule(id, draft, draft.calm);
  }

  /** Whether something has not been taken by the companion yet. */
  isPending(id: number): boolean {
    const draft = this.drafts.get(id);
    return draft !== undefined && (draft.sending || draft.timer !== undefined);
  }

  /** Whether the announcement of a changed draft is about somebody else's. */
  isForeign(id: number): boolean {
    const draft = this.drafts.get(id);
    if (draft === undefined || draft.echoes === 0) return true;
    draft.echoes -= 1;
    return false;
  }

  /** Nothing more is sent for a proposal that was decided. */
  forget(id: number): void {
    clearTimeout(this.drafts.get(id)?.timer);
    this.drafts.delete(id);
  }

  /** Announcements were missed, and with them echoes. */
  forgetEchoes(): void {
    for (const draft of this.drafts.values()) draft.echoes = 0;
  }

  private draft(id: number): Draft {
    const known = this.drafts.get(id);
    if (known !== undefined) return known;
    const draft = { text: () => "", calm: CALM, timer: undefined, sending: false, echoes: 0 };
    this.drafts.set(id, draft);
    return draft;
  }

  private schedule(id: number, draft: Draft, wait: number): void {
    clearTimeout(draft.timer);
    draft.timer = setTimeout(() => this.send(id, draft), wait);
  }

  private async send(id: number, draft: Draft): Promise<void> {
    draft.timer = undefined;
    if (draft.sending) {
      // One at a time, so that the last one is the one that stays.
      this.schedule(id, draft, draft.calm);
      return;
    }
    draft.sending = true;
    draft.echoes += 1;
    try {
      const { hunks_at } = await this.client.draft(id, draft.text());
      draft.sending = false;
      if (this.drafts.get(id) === draft && !this.isPending(id)) this.answered(id, hunks_at);
    } catch (error) {
      draft.sending = false;
      draft.echoes = Math.max(0, draft.echoes - 1);
      if (!(error instanceof Problem) || this.drafts.get(id) !== draft) return;
      if (error.gone) this.gone(id);
      else if (draft.timer === undefined) this.schedule(id, draft, PATIENCE);
    }
  }
}
