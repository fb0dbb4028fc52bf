/**
 * What the companion tells of the conversation with a daemon, field by field as in
 * docs/api.md. All text in it comes from a model or its tools, and must reach the
 * screen as text.
 */

/** A path where the daemon runs; it need not mean anything here. */
export interface DaemonPath {
  daemonPath: string;
  line?: number;
}

export type Shown =
  | { type: "text"; text: string }
  | { type: "diff"; path: DaemonPath; oldText?: string; newText: string };

export interface Tool {
  id: string;
  title?: string;
  tool?: string;
  kind?: string;
  status?: string;
  content?: Shown[];
  files?: DaemonPath[];
  command?: string;
}

export type Speaker = "me" | "other" | "agent" | "thought";

export interface Step {
  text: string;
  status?: string;
}

export type Ending = "complete" | "cancelled" | "failed" | "unknown";

export type Entry = { id: number } & (
  | { kind: "said"; speaker: Speaker; text: string }
  | { kind: "tool"; tool: Tool }
  | { kind: "plan"; steps: Step[] }
  | { kind: "ended"; how: Ending; why?: string; background: boolean }
  | { kind: "note"; text: string }
);

export type Connection =
  | { state: "off" | "starting" | "connecting" | "catchingUp" | "live" | "reconnecting" }
  | { state: "lost"; why: string; canRetry: boolean }
  | { state: "failed"; trouble: string; why: string; hint?: string };

export interface Choice {
  id: string;
  name: string;
}

export interface Status {
  connection: Connection;
  place?: { machine?: string; workspace: DaemonPath; version?: string };
  /** The daemon was started by the companion, and ends with it. */
  managed: boolean;
  title?: string;
  busy: boolean;
  queue: { prompt: string; text?: string }[];
  model?: string;
  models: Choice[];
  mode?: string;
  modes: Choice[];
  commands: [name: string, description: string | null][];
  /** In tokens. */
  usage?: { used: number; size: number };
  suggestion?: string;
}

export interface Question {
  question: string;
  header?: string;
  answers: [label: string, description: string | null][];
  several: boolean;
}

export interface Request {
  request: string;
  title: string;
  tool: Tool;
  options: { id: string; title: string; kind?: string }[];
  questions?: Question[];
  background: boolean;
  /** The proposal in the review that is the same edit. */
  proposal?: number;
  /** How many have agreed, and how many must. */
  votes?: [number, number];
}

export interface Snapshot {
  seq: number;
  /** Older entries were not kept. */
  shortened: boolean;
  status: Status;
  requests: Request[];
  entries: Entry[];
}

export type Change =
  | { change: "put"; entry: Entry }
  | { change: "append"; id: number; text: string }
  | { change: "shorten"; first: number }
  | { change: "clear" }
  | { change: "status"; status: Status }
  | { change: "requests"; requests: Request[] };

/** What comes on the stream of events. */
export type Message =
  | { kind: "chat-all"; data: Snapshot }
  | { kind: "chat"; data: { seq: number } & Change };

export interface Earlier {
  key: number;
  title?: string;
  updatedAt?: string;
  busy: boolean;
  current: boolean;
}

export type Which = "last" | "new" | { earlier: number };

export type Reply = { option: string } | "decline" | { answers: string[][] };

export interface Prompt {
  text: string;
  files: readonly string[];
  selection: boolean;
}
