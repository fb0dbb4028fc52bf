/** The completions that are offered while the person types, and which one is marked. */

import { batch, signal } from "@preact/signals";
import { count } from "../text/format";
import type { Chat } from "./chat";
import { type Completing, commandsFor, completed, completingAt } from "./completion-text";

export interface Offer {
  /** The word that is put into the text. */
  word: string;
  about: string | null;
}

const MOST = 12;

export class Completion {
  readonly offers = signal<readonly Offer[]>([]);
  readonly marked = signal(0);
  private what: Completing | undefined;

  constructor(
    private readonly chat: Chat,
    private readonly announce: (sentence: string) => void,
  ) {}

  get kind(): Completing["kind"] | undefined {
    return this.what?.kind;
  }

  /** The text or the position of the caret has changed. */
  async update(text: string, caret: number): Promise<void> {
    const what = completingAt(text, caret);
    this.what = what;
    if (what === undefined) return this.close();
    const offers = await this.find(what);
    // The person may have typed more while the request was under way.
    if (this.what !== what) return;
    const before = this.offers.peek().length;
    batch(() => {
      this.offers.value = offers;
      this.marked.value = 0;
    });
    if (offers.length !== before && offers.length > 0) {
      this.announce(`${count(offers.length, what.kind)} to choose from`);
    }
  }

  /** Marks the next or previous offer, and wraps around at the ends. */
  move(step: 1 | -1): void {
    const { length } = this.offers.value;
    this.marked.value = (this.marked.value + step + length) % length;
  }

  /** Puts an offer into the text; returns the new position of the caret. */
  take(index = this.marked.value): number | undefined {
    const offer = this.offers.value[index];
    if (offer === undefined || this.what === undefined) return undefined;
    const { text, caret } = completed(this.chat.text.value, this.what, offer.word);
    if (this.what.kind === "file") this.chat.attach(offer.word);
    this.chat.text.value = text;
    this.close();
    return caret;
  }

  close(): void {
    this.what = undefined;
    this.offers.value = [];
  }

  private async find({ kind, typed }: Completing): Promise<Offer[]> {
    if (kind === "file") {
      const files = await this.chat.filesFor(typed);
      return files.slice(0, MOST).map((word) => ({ word, about: null }));
    }
    const commands = commandsFor(this.chat.status.value.commands, typed);
    return commands.slice(0, MOST).map(([word, about]) => ({ word, about }));
  }
}
