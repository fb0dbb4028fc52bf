/**
 * The conversation with a daemon as this page sees it: what the companion tells of it,
 * what the person is about to say, and what they do.
 */

import { batch, computed, signal } from "@preact/signals";
import { type Client, Problem } from "../api/client";
import { visible } from "../text/visible";
import { ChatApi } from "./api";
import { History } from "./composing";
import { Inbox } from "./inbox";
import { Transcript } from "./transcript";
import type { Change, Earlier, Message, Reply, Request, Snapshot, Status, Which } from "./wire";

const UNKNOWN: Status = {
  connection: { state: "off" },
  managed: false,
  busy: false,
  queue: [],
  models: [],
  modes: [],
  commands: [],
};

export class Chat {
  readonly status = signal<Status>(UNKNOWN);
  readonly requests = signal<readonly Request[]>([]);
  /** How many requests wait here alone; edits wait in the review, too. */
  readonly waiting = computed(
    () => this.requests.value.filter(({ proposal }) => proposal === undefined).length,
  );
  readonly transcript = new Transcript();
  readonly earlier = signal<readonly Earlier[]>([]);
  readonly state = computed(() => this.status.value.connection.state);
  /** The daemon tells a new title to those who list, too. */
  readonly title = computed(
    () => this.status.value.title ?? this.earlier.value.find(({ current }) => current)?.title,
  );
  /** Whether something can be said. */
  readonly isOpen = computed(
    () => this.state.value === "live" || this.state.value === "catchingUp",
  );

  /** What the person is writing, and what goes with it. */
  readonly text = signal("");
  readonly files = signal<readonly string[]>([]);
  readonly withSelection = signal(false);
  readonly sending = signal(false);
  readonly history = new History(() => this.saidByMe());

  /** Requests that were answered here and have not gone away yet. */
  readonly answered = signal<ReadonlySet<string>>(new Set());

  /** Why the last thing that was asked for was not done. */
  readonly refusal = signal<string | undefined>(undefined);
  /** What became of a request that the person did not answer here. */
  readonly settled = signal<string | undefined>(undefined);

  private readonly api: ChatApi;
  private readonly inbox = new Inbox<Message>((all) => this.takeAll(all));

  constructor(
    client: Client,
    private readonly announce: (sentence: string) => void,
  ) {
    this.api = new ChatApi(client);
  }

  /** The next steps, from the companion. */
  hear(messages: readonly Message[]): void {
    this.inbox.push(messages);
  }

  connect(which: Which): Promise<boolean> {
    return this.attempt(() => this.api.connect(which));
  }

  /** Goes on with another conversation, or begins one. */
  async open(which: Which): Promise<void> {
    if (await this.connect(which)) await this.refreshEarlier();
  }

  startDaemon(): Promise<boolean> {
    return this.attempt(() => this.api.start());
  }

  cancel(): Promise<boolean> {
    return this.attempt(() => this.api.cancel());
  }

  setModel(model: string): Promise<boolean> {
    return this.attempt(() => this.api.setModel(model));
  }

  setMode(mode: string): Promise<boolean> {
    return this.attempt(() => this.api.setMode(mode));
  }

  /** Says what is written. It stays where it is until the companion has taken it. */
  async send(): Promise<void> {
    const text = this.text.value.trim();
    if (text === "" || this.sending.value || !this.isOpen.value) return;
    this.sending.value = true;
    const written = this.text.value;
    const prompt = { text, files: this.files.value, selection: this.withSelection.value };
    const sent = await this.attempt(() => this.api.prompt(prompt));
    this.sending.value = false;
    if (!sent) return;
    this.history.leave();
    this.settled.value = undefined;
    if (this.text.value === written) this.text.value = "";
    this.files.value = [];
  }

  attach(file: string): void {
    if (!this.files.value.includes(file)) this.files.value = [...this.files.value, file];
  }

  detach(file: string): void {
    this.files.value = this.files.value.filter((attached) => attached !== file);
  }

  async answer({ request, title }: Request, reply: Reply): Promise<void> {
    if (this.answered.value.has(request)) return;
    this.answered.value = new Set([...this.answered.value, request]);
    this.settled.value = undefined;
    const taken = await this.attempt(async () => {
      const { counted } = await this.api.answer(request, reply);
      if (counted) this.announce("Answered");
      else this.settle(`Somebody else was faster to answer “${visible(title)}”`);
    });
    if (!taken) this.forgetAnswer(request);
  }

  async refreshEarlier(): Promise<void> {
    try {
      this.earlier.value = await this.api.earlier();
    } catch (error) {
      // Why there is no list is said where the connection is shown.
      if (!(error instanceof Problem)) throw error;
    }
  }

  /** Files to choose from; none if they cannot be had. */
  async filesFor(typed: string): Promise<string[]> {
    try {
      return await this.api.files(typed);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return [];
    }
  }

  private saidByMe(): string[] {
    const said: string[] = [];
    for (const entry of this.transcript.entries()) {
      if (entry.kind === "said" && entry.speaker === "me") said.push(entry.text.trim());
    }
    return said;
  }

  private takeAll(all: readonly Message[]): void {
    batch(() => {
      for (const message of all) {
        if (message.kind === "chat-all") this.takeSnapshot(message.data);
        else this.takeChange(message.data);
      }
    });
  }

  private takeSnapshot({ shortened, status, requests, entries }: Snapshot): void {
    this.transcript.replace(entries, shortened);
    this.takeStatus(status);
    this.takeRequests(requests);
  }

  private takeChange(change: Change): void {
    if (change.change === "status") this.takeStatus(change.status);
    else if (change.change === "requests") this.takeRequests(change.requests);
    else this.transcript.apply(change);
  }

  private takeStatus(status: Status): void {
    const before = this.status.peek();
    this.status.value = status;
    const { connection } = status;
    const changed = connection.state !== before.connection.state;
    if (changed && connection.state === "live") this.refusal.value = undefined;
    if (changed && "why" in connection) this.announce(visible(connection.why));
    else if (before.busy && !status.busy) this.announce("The agent has finished");
    if (connection.state === "live" && (changed || (before.busy && !status.busy))) {
      void this.refreshEarlier();
    }
  }

  private takeRequests(requests: readonly Request[]): void {
    const before = this.requests.peek();
    this.requests.value = requests;
    const known = new Set(before.map(({ request }) => request));
    const there = new Set(requests.map(({ request }) => request));
    for (const { request, title, proposal } of before) {
      if (there.has(request) || this.forgetAnswer(request)) continue;
      const how = proposal === undefined ? "answered elsewhere" : "decided in the review";
      this.settle(`“${visible(title)}” was ${how} or taken back`);
    }
    for (const { request, title } of requests) {
      if (!known.has(request)) this.announce(`Waits for your answer: ${visible(title)}`);
    }
  }

  /** Whether there was one. */
  private forgetAnswer(request: string): boolean {
    const answered = new Set(this.answered.peek());
    const known = answered.delete(request);
    this.answered.value = answered;
    return known;
  }

  private settle(sentence: string): void {
    this.settled.value = sentence;
    this.announce(sentence);
  }

  /** Whether it was done; if not, the person is told why. */
  private async attempt(act: () => Promise<unknown>): Promise<boolean> {
    this.refusal.value = undefined;
    try {
      await act();
      return true;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      const { message, hint } = error;
      this.refusal.value = hint === undefined ? message : `${message}: ${hint}`;
      return false;
    }
  }
}
