/** The dialog that decides on several proposals: what it is about, and how it went. */

import { computed, signal } from "@preact/signals";
import type { Proposal } from "../api/wire";
import { choiceOf } from "../review/several";
import { Settling } from "./settling";

export interface Failure {
  proposal: Proposal;
  message: string;
}

export class Several {
  /**
   * The proposals as they were when the dialog was opened, or when the last decision ended;
   * undefined while it is closed.
   */
  readonly all = signal<readonly Proposal[] | undefined>(undefined);
  /** Only those of this session. */
  readonly session = signal<string | undefined>(undefined);
  readonly choice = computed(() => choiceOf(this.all.value ?? [], this.session.value));
  readonly isSettled = computed(() => {
    const all = this.all.value;
    return all !== undefined && this.settling.isSettled(all);
  });
  readonly deciding = signal(false);
  /** What could not be decided. */
  readonly failures = signal<readonly Failure[]>([]);
  private readonly settling = new Settling();

  open(all: readonly Proposal[]): void {
    this.session.value = undefined;
    this.failures.value = [];
    this.show(all);
  }

  /** Closes the dialog, but not while it decides: nobody would see what fails. */
  close(): void {
    if (!this.deciding.value) this.all.value = undefined;
  }

  /**
   * Decides one after the other. What fails stays in the dialog, with the reason, and as it is
   * among the `pending` ones then.
   */
  async decide(
    proposals: readonly Proposal[],
    decide: (proposal: Proposal) => Promise<string | undefined>,
    pending: () => readonly Proposal[],
  ): Promise<void> {
    if (this.deciding.value || !this.isSettled.value) return;
    this.deciding.value = true;
    this.failures.value = [];
    try {
      for (const proposal of proposals) {
        const message = await decide(proposal);
        if (message !== undefined) {
          this.failures.value = [...this.failures.value, { proposal, message }];
        }
      }
    } finally {
      this.deciding.value = false;
    }
    if (this.failures.value.length === 0) this.close();
    else {
      const before = new Set(this.all.value?.map(({ id }) => id));
      this.show(pending().filter(({ id }) => before.has(id)));
    }
  }

  private show(all: readonly Proposal[]): void {
    this.all.value = all;
    this.settling.begin(all);
  }
}
