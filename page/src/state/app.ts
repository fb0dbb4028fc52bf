/** The page as a whole: the connection, the situation, and which view is shown. */

import { batch, computed, effect, signal } from "@preact/signals";
import type { Client } from "../api/client";
import { follow } from "../api/feed";
import { forgetKey } from "../api/key";
import type { Event, Live, Proposal } from "../api/wire";
import { Chat } from "../chat/chat";
import { splitPath, visible } from "../text/visible";
import { moved, type Situation, situationOf } from "./situation";
import { Table } from "./table";

export type Connection = "connecting" | "live" | "reconnecting" | "locked";

export type View = "review" | "live" | "chat";

const NO_PROPOSALS: readonly Proposal[] = [];
const NO_ROOTS: readonly string[] = [];

export class App {
  readonly connection = signal<Connection>("connecting");
  readonly situation = signal<Situation | undefined>(undefined);
  /** Apart from the rest, because long lists are drawn again only when they change. */
  readonly proposals = computed(() => this.situation.value?.proposals ?? NO_PROPOSALS);
  readonly roots = computed(() => this.situation.value?.status.roots ?? NO_ROOTS);
  /** Nothing is known yet. */
  readonly isEmpty = computed(() => this.situation.value === undefined);
  readonly view = signal<View>("review");
  /** The companion is another run than before. */
  readonly restarted = signal(false);
  readonly help = signal(false);
  /** What a screen reader is told next. */
  readonly said = signal("");
  readonly table: Table;
  readonly chat: Chat;

  constructor(client: Client) {
    this.table = new Table(client, (sentence) => this.say(sentence));
    this.chat = new Chat(client, (sentence) => this.say(sentence));
    void follow(client, {
      whole: (live) => this.whole(live),
      events: (events) =>
        batch(() => {
          for (const event of events) this.event(event);
        }),
      chat: (messages) => this.chat.hear(messages),
      connected: (yes) => this.connected(yes),
      locked: () => {
        forgetKey();
        this.connection.value = "locked";
      },
    });
    effect(() => {
      document.title = titleOf(this.situation.value, this.chat.waiting.value);
    });
    effect(() => {
      document.documentElement.dataset.state = this.connection.value;
    });
  }

  say(sentence: string): void {
    this.said.value = sentence;
  }

  /** Shows a proposal in the review. */
  review(proposal: number): void {
    this.view.value = "review";
    this.table.select(proposal);
  }

  private whole(live: Live): void {
    const before = this.situation.value;
    const now = situationOf(live);
    this.situation.value = now;
    this.table.refresh(now.proposals);
    if (before !== undefined && before.instance !== now.instance) {
      this.restarted.value = true;
      this.say("The companion was restarted");
    }
  }

  private event(event: Event): void {
    const before = this.situation.value;
    if (before === undefined) return;
    const now = moved(before, event);
    this.situation.value = now;
    if (event.kind === "changed") this.table.changed(event.data.id);
    if (event.kind === "opened") {
      this.table.update(now.proposals);
      const { agent, path } = event.data;
      this.say(`${visible(agent)} proposes a change to ${splitPath(path).name}`);
    }
    if (event.kind === "closed") {
      const closed = before.proposals.find(({ id }) => id === event.data.id);
      const here = this.table.isDeciding(event.data.id);
      this.table.closed(event.data.id, event.data.why);
      if (closed && !here) this.say(`${splitPath(closed.path).name} was ${event.data.why}`);
    }
  }

  private connected(yes: boolean): void {
    if (yes) this.connection.value = "live";
    else if (this.connection.value !== "connecting") this.connection.value = "reconnecting";
  }
}

function titleOf(situation: Situation | undefined, waiting: number): string {
  const pending = (situation?.proposals.length ?? 0) + waiting;
  const root = situation?.status.roots[0];
  const folder = root === undefined ? "" : ` · ${splitPath(root).name}`;
  return `${pending > 0 ? `(${pending}) ` : ""}Outrigger${folder}`;
}
