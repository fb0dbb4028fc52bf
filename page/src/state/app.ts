/** The page as a whole: the connection, what is known of the companion, and which view is shown. */

import { batch, computed, effect, signal } from "@preact/signals";
import type { Client } from "../api/client";
import { followEvents } from "../api/events";
import { forgetKey } from "../api/key";
import type { Event, Proposal, Snapshot } from "../api/wire";
import { Chat } from "../chat/chat";
import { CLOSED_HOW } from "../text/log-entry";
import { splitPath, visible } from "../text/visible";
import { applyEvent, type CompanionState, companionStateOf } from "./companion";
import { Navigation } from "./navigation";
import { Reviews } from "./reviews";

/** `stopped` is after an orderly end; the page still tries, because it may be started again. */
export type Connection = "connecting" | "live" | "reconnecting" | "stopped" | "locked";

const NO_PROPOSALS: readonly Proposal[] = [];
const NO_ROOTS: readonly string[] = [];

export class App {
  readonly connection = signal<Connection>("connecting");
  /** Undefined until the first snapshot. */
  readonly companion = signal<CompanionState | undefined>(undefined);
  /** Signals of their own, so that a long list is drawn again only when it changes. */
  readonly proposals = computed(() => this.companion.value?.proposals ?? NO_PROPOSALS);
  readonly roots = computed(() => this.companion.value?.status.roots ?? NO_ROOTS);
  readonly isLoading = computed(() => this.companion.value === undefined);
  readonly navigation = new Navigation();
  /** Whether the companion was restarted while the page was open. */
  readonly restarted = signal(false);
  readonly help = signal(false);
  /** What screen readers read out next. */
  readonly announcement = signal("");
  readonly reviews: Reviews;
  readonly chat: Chat;
  /** Whether the companion said that it was stopped, and not restarted. */
  private isStopped = false;

  constructor(client: Client) {
    this.reviews = new Reviews(client, (sentence) => this.announce(sentence));
    this.chat = new Chat(client, (sentence) => this.announce(sentence));
    void followEvents(client, {
      snapshot: (snapshot) => batch(() => this.takeSnapshot(snapshot)),
      events: (events) =>
        batch(() => {
          for (const event of events) this.takeEvent(event);
        }),
      connected: (yes) => this.setConnected(yes),
      locked: () => {
        forgetKey();
        this.connection.value = "locked";
      },
    });
    effect(() => {
      document.title = titleOf(this.companion.value, this.chat.waiting.value);
    });
    effect(() => {
      document.documentElement.dataset.state = this.connection.value;
    });
  }

  announce(sentence: string): void {
    this.announcement.value = sentence;
  }

  /** Shows a proposal in the review. */
  showProposal(id: number): void {
    this.navigation.go({ view: "review", pane: "proposal" });
    this.reviews.select(id);
  }

  private takeSnapshot(snapshot: Snapshot): void {
    const before = this.companion.value;
    const now = companionStateOf(snapshot);
    this.companion.value = now;
    const isRestarted = before !== undefined && before.instance !== now.instance;
    this.reviews.refresh(now.proposals, isRestarted);
    if (snapshot.conversation !== undefined) this.chat.receive(snapshot.conversation);
    if (isRestarted) {
      this.restarted.value = true;
      this.announce("The companion was restarted");
    }
  }

  private takeEvent(event: Event): void {
    const before = this.companion.value;
    if (before === undefined) return;
    const now = applyEvent(before, event);
    this.companion.value = now;
    switch (event.kind) {
      case "opened": {
        this.reviews.update(now.proposals);
        const { agent, who = agent, path } = event.data;
        this.announce(`${visible(who)} proposes a change to ${splitPath(path).name}`);
        break;
      }
      case "changed":
        this.reviews.changed(event.data.id);
        break;
      case "revised":
        this.reviews.revised(event.data);
        break;
      case "closed": {
        const { id, why } = event.data;
        const closed = before.proposals.find((proposal) => proposal.id === id);
        const decidedHere = this.reviews.isDeciding(id);
        this.reviews.closed(id, why);
        if (closed && !decidedHere) {
          this.announce(`${splitPath(closed.path).name} was ${CLOSED_HOW[why]}`);
        }
        break;
      }
      case "chat":
        this.chat.receive(event.data);
        break;
      case "ending":
        this.isStopped = event.data.why === "stopped";
        break;
    }
  }

  private setConnected(yes: boolean): void {
    if (yes) {
      this.isStopped = false;
      this.connection.value = "live";
    } else if (this.connection.value !== "connecting") {
      this.connection.value = this.isStopped ? "stopped" : "reconnecting";
      // What was true of the connection before is not true now.
      this.restarted.value = false;
    }
  }
}

function titleOf(companion: CompanionState | undefined, waiting: number): string {
  const pending = (companion?.proposals.length ?? 0) + waiting;
  const root = companion?.status.roots[0];
  const folder = root === undefined ? "" : ` · ${splitPath(root).name}`;
  return `${pending > 0 ? `(${pending}) ` : ""}Outrigger${folder}`;
}
