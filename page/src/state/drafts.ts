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

/** A text that is to be sent. */
interface Unsent {
  /** The revision of the proposal that the text was made of. */
  revision: number;
  text: () => string;
  quiet: number;
}

interface Draft {
  unsent: Unsent | undefined;
  timer: ReturnType<typeof setTimeout> | undefined;
  /** Ends when the companion has answered. */
  sending: Promise<void> | undefined;
  isHeld: boolean;
  /** The last text that the companion is known to have. */
  known: string | undefined;
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
    const quiet = QUIET + length / PER_CHARACTERS;
    draft.unsent = { revision, text, quiet };
    this.schedule(id, draft, quiet);
  }

  /** Whether the companion does not have the last text yet. */
  isPending(id: number): boolean {
    const draft = this.drafts.get(id);
    return draft !== undefined && (draft.sending !== undefined || draft.unsent !== undefined);
  }

  /** The last text that the companion is known to have. */
  known(id: number): string | undefined {
    return this.drafts.get(id)?.known;
  }

  /** Sends nothing more until `release` or `settle`. Ends when nothing is on its way any more. */
  async hold(id: number): Promise<void> {
    const draft = this.draft(id);
    draft.isHeld = true;
    clearTimeout(draft.timer);
    draft.timer = undefined;
    await draft.sending;
  }

  /** Goes on with what was held. */
  release(id: number): void {
    const draft = this.drafts.get(id);
    if (draft === undefined || !draft.isHeld) return;
    draft.isHeld = false;
    if (draft.unsent !== undefined) this.schedule(id, draft, draft.unsent.quiet);
  }

  /** The companion has this text. What was to be sent counts no more. */
  settle(id: number, known: string): void {
    const draft = this.draft(id);
    clearTimeout(draft.timer);
    draft.timer = undefined;
    draft.unsent = undefined;
    draft.isHeld = false;
    draft.known = known;
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
      unsent: undefined,
      timer: undefined,
      sending: undefined,
      isHeld: false,
      known: undefined,
      echoes: 0,
    };
    this.drafts.set(id, draft);
    return draft;
  }

  private schedule(id: number, draft: Draft, wait: number): void {
    clearTimeout(draft.timer);
    draft.timer = undefined;
    if (draft.isHeld) return;
    draft.timer = setTimeout(() => {
      draft.timer = undefined;
      const { unsent } = draft;
      if (unsent === undefined) return;
      // One at a time, so that the last one sent is the last one stored.
      if (draft.sending !== undefined) this.schedule(id, draft, unsent.quiet);
      else draft.sending = this.send(id, draft, unsent);
    }, wait);
  }

  private async send(id: number, draft: Draft, unsent: Unsent): Promise<void> {
    draft.unsent = undefined;
    draft.echoes += 1;
    const text = unsent.text();
    try {
      const { hunksAt } = await this.client.draft(id, text, unsent.revision);
      draft.sending = undefined;
      draft.known = text;
      if (this.drafts.get(id) === draft && !this.isPending(id)) this.answered(id, hunksAt);
    } catch (error) {
      draft.sending = undefined;
      draft.echoes = Math.max(0, draft.echoes - 1);
      if (!(error instanceof ApiError) || this.drafts.get(id) !== draft) return;
      draft.unsent ??= unsent;
      if (error.gone) this.gone(id);
      else if (draft.timer === undefined) this.schedule(id, draft, RETRY_AFTER);
    }
  }
}
