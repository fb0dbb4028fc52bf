/** Texts of proposals that were closed while the person was editing them. Nothing that was typed is lost. */

import { signal } from "@preact/signals";
import type { CloseReason, Proposal } from "../api/wire";

export interface KeptText {
  /** Of its own, because one proposal can have several. */
  number: number;
  proposal: Proposal;
  /** Undefined if the page missed the event. */
  why: CloseReason | "revised" | undefined;
  text: string;
}

export class KeptTexts {
  /** Oldest first. */
  readonly all = signal<readonly KeptText[]>([]);
  private last = 0;

  add(kept: Omit<KeptText, "number">): KeptText {
    this.last += 1;
    const numbered = { number: this.last, ...kept };
    this.all.value = [...this.all.value, numbered];
    return numbered;
  }

  find(number: number): KeptText | undefined {
    return this.all.value.find((kept) => kept.number === number);
  }

  remove(number: number): void {
    this.all.value = this.all.value.filter((kept) => kept.number !== number);
  }
}
