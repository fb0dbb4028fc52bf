/**
 * Sends edited texts to the companion as drafts, a moment after each change. An agent
 * that takes its proposal back gets the draft, and other tabs show it.
 */

import { ApiError, type Client } from "../api/client";
import type { WireHunk } from "../api/wire";

/** A draft is sent after this many milliseconds without a change, */
const QUIET = 200;

/** and one more for every so many characters, because a long text takes longer. */
const PER_CHARACTERS = 5_000;

/** A draft that could not be sent is sent again after this many milliseconds. */
const RETRY_AFTER = 2_000;

interface Draft {
  /** The revision of the proposal that the text was made of. */
  revision: number;
  text: () => string;
  quiet: number;
  timer: ReturnType<typeof setTimeout> | undefined;
  /** Ends when the companion has answered. */
  sending: Promise<void> | undefined;
  /** The last text that the companion has. */
  received: string | undefined;
  /** How many `changed` events for drafts of this tab are still to come. */
  echoes: number;
}

export class Drafts {
  private readonly drafts = new Map<number, Draft>();

  constructor(
    private readonly client: Client,
    private readonly answered: (id: number, hunks: WireHunk[]) => void,
    private readonly gone: (id: number) => void,
  ) {}

  /** Sends `text`, which was made of this revision, soon, unless another one follows. */
  put(id: number, revision: number, text: () => string, length: number): void {
    const draft = this.draft(id);
    draft.revision = revision;
    draft.text = text;
    draft.quiet = QUIET + length / PER_CHARACTERS;
    this.schedule(id, draft, draft.quiet);
  }

  /** Whether the companion does not have the last text yet. */
  isPending(id: number): boolean {
    const draft = this.drafts.get(id);
    return draft !== undefined && (draft.sending !== undefined || draft.timer !== undefined);
  }

  /**
   * Sends nothing more until the next `put`. When nothing is on its way any more, returns the
   * last text that the companion has from this tab.
   */
  async hold(id: number): Promise<string | undefined> {
    const draft = this.drafts.get(id);
    if (draft === undefined) return undefined;
    await draft.sending;
    clearTimeout(draft.timer);
    draft.timer = undefined;
    return draft.received;
  }

  /** Whether a `changed` event is about a draft of another client. To be asked once for each event. */
  isForeign(id: number): boolean {
    const draft = this.drafts.get(id);
    if (draft === undefined || draft.echoes === 0) return true;
    draft.echoes -= 1;
    return false;
  }

  /** Nothing more is sent for a proposal that is closed. */
  forget(id: number): void {
    clearTimeout(this.drafts.get(id)?.timer);
    this.drafts.delete(id);
  }

  /** Events were missed, and echoes may be among them. */
  forgetEchoes(): void {
    for (const draft of this.drafts.values()) draft.echoes = 0;
  }

  private draft(id: number): Draft {
    const known = this.drafts.get(id);
    if (known !== undefined) return known;
    const draft: Draft = {
      revision: 0,
      text: () => "",
      quiet: QUIET,
      timer: undefined,
      sending: undefined,
      received: undefined,
      echoes: 0,
    };
    this.drafts.set(id, draft);
    return draft;
  }

  private schedule(id: number, draft: Draft, wait: number): void {
    clearTimeout(draft.timer);
    draft.timer = setTimeout(() => {
      draft.timer = undefined;
      // One at a time, so that the last one sent is the last one stored.
      if (draft.sending !== undefined) this.schedule(id, draft, draft.quiet);
      else draft.sending = this.send(id, draft);
    }, wait);
  }

  private async send(id: number, draft: Draft): Promise<void> {
    draft.echoes += 1;
    const text = draft.text();
    try {
      const { hunksAt } = await this.client.draft(id, text, draft.revision);
      draft.sending = undefined;
      draft.received = text;
      if (this.drafts.get(id) === draft && !this.isPending(id)) this.answered(id, hunksAt);
    } catch (error) {
      draft.sending = undefined;
      draft.echoes = Math.max(0, draft.echoes - 1);
      if (!(error instanceof ApiError) || this.drafts.get(id) !== draft) return;
      if (error.gone) this.gone(id);
      else if (draft.timer === undefined) this.schedule(id, draft, RETRY_AFTER);
    }
  }
}
