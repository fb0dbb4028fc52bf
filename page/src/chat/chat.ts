/**
 * The conversation with a daemon: its state as the companion reports it, the prompt that
 * the person is writing, and their actions.
 */

import { batch, computed, signal } from "@preact/signals";
import { ApiError, type Client } from "../api/client";
import { visible } from "../text/visible";
import { ChatApi } from "./api";
import { FrameQueue } from "./frame-queue";
import { PromptHistory } from "./prompt-history";
import { Transcript } from "./transcript";
import type {
  AgentRequest,
  Change,
  ChatStatus,
  Conversation,
  EarlierConversation,
  Reply,
  WhichConversation,
} from "./wire";

const UNKNOWN: ChatStatus = {
  connection: { state: "off" },
  managed: false,
  busy: false,
  queue: [],
  models: [],
  modes: [],
  commands: [],
};

export class Chat {
  readonly status = signal<ChatStatus>(UNKNOWN);
  readonly requests = signal<readonly AgentRequest[]>([]);
  /** How many requests are pending only here; edits are pending in the review, too. */
  readonly waiting = computed(
    () => this.requests.value.filter(({ proposal }) => proposal === undefined).length,
  );
  /** The tool calls that a request for permission is about, by their ids. */
  readonly askedTools = computed(
    () => new Set(this.requests.value.filter((it) => !it.questions).map(({ tool }) => tool.id)),
  );
  readonly transcript = new Transcript();
  readonly earlier = signal<readonly EarlierConversation[]>([]);
  readonly state = computed(() => this.status.value.connection.state);
  /** The daemon puts a new title into its list of conversations, and not always into the status. */
  readonly title = computed(
    () => this.status.value.title ?? this.earlier.value.find(({ current }) => current)?.title,
  );
  /** Whether prompts can be sent. */
  readonly isOpen = computed(
    () => this.state.value === "live" || this.state.value === "catchingUp",
  );

  /** The prompt that the person is writing, and what they attach. */
  readonly text = signal("");
  readonly files = signal<readonly string[]>([]);
  readonly withSelection = signal(false);
  readonly sending = signal(false);
  readonly history = new PromptHistory(() => this.ownPrompts());

  /** Requests that were answered in this tab and are still listed. */
  readonly answered = signal<ReadonlySet<string>>(new Set());

  /** Why the last action failed. */
  readonly refusal = signal<string | undefined>(undefined);
  /** What happened to a request that was not answered in this tab. */
  readonly answeredElsewhere = signal<string | undefined>(undefined);

  private readonly api: ChatApi;
  private readonly queue = new FrameQueue<Conversation | Change>((all) => this.apply(all));

  constructor(
    client: Client,
    private readonly announce: (sentence: string) => void,
  ) {
    this.api = new ChatApi(client);
  }

  /** Takes the whole conversation, or its next change; both are shown with the next frame. */
  receive(update: Conversation | Change): void {
    this.queue.push(update);
  }

  connect(which: WhichConversation): Promise<boolean> {
    return this.attempt(() => this.api.connect(which));
  }

  /** Continues another conversation, or starts one. */
  async open(which: WhichConversation): Promise<void> {
    if (await this.connect(which)) await this.refreshEarlier();
  }

  startDaemon(): Promise<boolean> {
    return this.attempt(() => this.api.start());
  }

  cancel(): Promise<boolean> {
    return this.attempt(() => this.api.cancel());
  }

  /** Takes a prompt out of the queue, and back into the field if that is empty. */
  async withdraw(prompt: string, text: string | undefined): Promise<void> {
    await this.attempt(async () => {
      const { withdrawn } = await this.api.withdraw(prompt);
      if (!withdrawn) throw new ApiError(0, "late", "the agent has begun with this prompt already");
      if (this.text.value === "" && text !== undefined) this.text.value = text;
      this.announce("Withdrawn");
    });
  }

  setModel(model: string): Promise<boolean> {
    return this.attempt(() => this.api.setModel(model));
  }

  setMode(mode: string): Promise<boolean> {
    return this.attempt(() => this.api.setMode(mode));
  }

  /** Sends the prompt. Its text stays in the field until the companion has it. */
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
    this.answeredElsewhere.value = undefined;
    if (this.text.value === written) this.text.value = "";
    this.files.value = [];
  }

  attach(file: string): void {
    if (!this.files.value.includes(file)) this.files.value = [...this.files.value, file];
  }

  detach(file: string): void {
    this.files.value = this.files.value.filter((attached) => attached !== file);
  }

  async answer({ request, title }: AgentRequest, reply: Reply): Promise<void> {
    if (this.answered.value.has(request)) return;
    this.answered.value = new Set([...this.answered.value, request]);
    this.answeredElsewhere.value = undefined;
    const sent = await this.attempt(async () => {
      const { counted } = await this.api.answer(request, reply);
      if (counted) this.announce("Answered");
      else this.report(`“${visible(title)}” was answered elsewhere first`);
    });
    if (!sent) this.forgetAnswer(request);
  }

  async refreshEarlier(): Promise<void> {
    try {
      this.earlier.value = await this.api.earlier();
    } catch (error) {
      // The list stays as it is; the status says what is wrong with the connection.
      if (!(error instanceof ApiError)) throw error;
    }
  }

  /** Files to attach whose path matches; none if the request fails. */
  async filesFor(typed: string): Promise<string[]> {
    try {
      return await this.api.files(typed);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return [];
    }
  }

  private ownPrompts(): string[] {
    const prompts: string[] = [];
    for (const entry of this.transcript.entries()) {
      if (entry.kind === "said" && entry.speaker === "me") prompts.push(entry.text.trim());
    }
    return prompts;
  }

  private apply(updates: readonly (Conversation | Change)[]): void {
    batch(() => {
      for (const update of updates) {
        if ("change" in update) this.applyChange(update);
        else this.replace(update);
      }
    });
  }

  private replace({ shortened, status, requests, entries }: Conversation): void {
    this.transcript.replace(entries, shortened);
    this.setStatus(status);
    this.setRequests(requests);
  }

  private applyChange(change: Change): void {
    if (change.change === "status") this.setStatus(change.status);
    else if (change.change === "requests") this.setRequests(change.requests);
    else this.transcript.apply(change);
  }

  private setStatus(status: ChatStatus): void {
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

  private setRequests(requests: readonly AgentRequest[]): void {
    const before = this.requests.peek();
    this.requests.value = requests;
    const known = new Set(before.map(({ request }) => request));
    const pending = new Set(requests.map(({ request }) => request));
    for (const { request, title, proposal } of before) {
      if (pending.has(request) || this.forgetAnswer(request)) continue;
      const how = proposal === undefined ? "answered elsewhere" : "decided in the review";
      this.report(`“${visible(title)}” was ${how} or taken back`);
    }
    for (const { request, title } of requests) {
      if (!known.has(request)) this.announce(`Waits for your answer: ${visible(title)}`);
    }
  }

  /** Whether the request had been answered in this tab. */
  private forgetAnswer(request: string): boolean {
    const answered = new Set(this.answered.peek());
    const known = answered.delete(request);
    this.answered.value = answered;
    return known;
  }

  private report(sentence: string): void {
    this.answeredElsewhere.value = sentence;
    this.announce(sentence);
  }

  /** Whether the action succeeded; if not, the refusal says why. */
  private async attempt(action: () => Promise<unknown>): Promise<boolean> {
    this.refusal.value = undefined;
    try {
      await action();
      return true;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const { message, hint } = error;
      this.refusal.value = hint === undefined ? message : `${message}: ${hint}`;
      return false;
    }
  }
}
