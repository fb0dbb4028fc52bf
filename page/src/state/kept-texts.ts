/** Texts of proposals that were closed while the person was editing them. Nothing that was typed is lost. */

import { signal } from "@preact/signals";
import type { CloseReason, Proposal } from "../api/wire";

export interface KeptText {
  proposal: Proposal;
  /** Undefined if the page missed the event. */
  why: CloseReason | "revised" | undefined;
  text: string;
}

export class KeptTexts {
  /** Oldest first. */
  readonly all = signal<readonly KeptText[]>([]);

  add(kept: KeptText): void {
    this.all.value = [...this.all.value, kept];
  }

  find(proposal: number): KeptText | undefined {
    return this.all.value.find((kept) => kept.proposal.id === proposal);
  }

  remove(proposal: number | undefined): void {
    this.all.value = this.all.value.filter((kept) => kept.proposal.id !== proposal);
  }
}
