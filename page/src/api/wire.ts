/**
 * The types of the companion's HTTP API, field by field as in docs/api.md.
 * Times are Unix milliseconds. Everything that an agent wrote is a plain string
 * here and must reach the screen as text.
 */

import type { Change, Conversation } from "../chat/wire";

export interface Session {
  id: string;
  agent: string;
  client: { name: string; version: string };
  since: number;
  /** Whether the agent has its event stream open. */
  streaming: boolean;
  /** Decisions that have not reached the agent yet. */
  undelivered: number;
  /** The agent told apart from others of its kind. */
  label: string;
  /** The version of the product. */
  version?: string;
  presence: Presence;
  /** What is to know about the agent, in a sentence. */
  note?: string;
}

/** A mistake in what says which files may be shared. */
export interface Fault {
  /** The path of a file, a variable, or an editor's settings. */
  source: string;
  line?: number;
  column?: number;
  message: string;
  /** The folder of which nothing is shared until it is mended; absent for all. */
  folder?: string;
}

/** An editor that is in the companion. */
export interface Editor {
  name: string;
  pid?: number;
}
/** `away` has no event stream just now, and `gone` will not come back. */
export type Presence = "connected" | "away" | "gone";

export interface Status {
  pid: number;
  port: number;
  version: string;
  editor: string;
  /** The one that joined last at the end. */
  editors: Editor[];
  roots: string[];
  sessions: Session[];
  faults: Fault[];
  problems: string[];
  /** What is wrong in the settings, if conversations are switched on and cannot be held. */
  noConversation?: string;
}

export interface Proposal {
  id: number;
  path: string;
  agent: string;
  session: string;
  openedAt: number;
  newFile: boolean;
  hunks: number;
  /** How many lines they add, and how many they remove. */
  added: number;
  removed: number;
  /** Whether another text, or some of the hunks, can be accepted. */
  editable: boolean;
  /** That the file is kept from agents, so that the edit is accepted whole, in a sentence. */
  withheld?: string;
  /** Why only the agent's own prompt can accept it, if that is so. */
  terminalOnly?: string;
  /** Increases whenever the texts are made new, because the file has changed. */
  revision: number;
  /** Why the texts may not be what the agent meant, in a sentence. */
  stale?: string;
  /** How many places of the text, as it stands, have conflict markers. */
  conflicts: number;
  /** The agent told apart from others of its kind. */
  who: string;
}

/** Lines are what `\n` ends, counted from 0; the ends are exclusive. */
export interface WireHunk {
  /** The number that `outrigger accept` takes too, from 1. */
  number: number;
  originalStart: number;
  originalEnd: number;
  proposedStart: number;
  proposedEnd: number;
}

export interface Detail extends Proposal {
  /** Absent for a new file. */
  original?: string;
  proposed: string;
  /** The hunks between `original` and `proposed`. */
  hunksAt: WireHunk[];
  /** A draft that differs from `proposed`. */
  current?: string;
  /** The hunks between `original` and `current`. */
  currentHunksAt?: WireHunk[];
}

/** The answer to a draft: the hunks between `original` and the draft. */
export interface Drafted {
  hunksAt: WireHunk[];
}

export interface Decided {
  agent: string;
  /** False if the agent is away; the decision is kept for it. */
  streaming: boolean;
}

export interface SeenFile {
  path: string;
  active: boolean;
  line?: number;
  column?: number;
  selection?: string;
}

/** What agents see. */
export interface Context {
  paused: boolean;
  files: SeenFile[];
  heldBack: { path: string; reason: string }[];
  bytes: number;
  at?: number;
}

/** How a proposal was closed. */
export type CloseReason = "accepted" | "rejected" | "withdrawn" | "replaced" | "orphaned";

export type LogKind =
  | "connected"
  | "disconnected"
  | "context"
  | "proposed"
  | CloseReason
  | "paused"
  | "resumed";

export interface LogEntry {
  number: number;
  at: number;
  kind: LogKind;
  agent?: string;
  session?: string;
  proposal?: number;
  path?: string;
  files?: number;
  bytes?: number;
  /** How often it happened in a row. */
  times?: number;
}

export interface Hints {
  commands: { agent: string; command: string }[];
  problems: string[];
}

/** Everything that the page shows beside the diffs, as of event `number`. */
export interface Snapshot {
  instance: string;
  number: number;
  status: Status;
  proposals: Proposal[];
  context: Context;
  log: LogEntry[];
  hints: Hints;
  /** Absent if there are none; `status.noConversation` says if that is because of a mistake. */
  conversation?: Conversation;
}

/** The kinds of events after a snapshot, and their data. */
export interface EventData {
  opened: Proposal;
  /** Somebody put a draft. */
  changed: { id: number };
  /** The texts of a proposal were made new, or what is known about it has changed. */
  revised: Proposal;
  closed: { id: number; why: CloseReason };
  sessions: Session[];
  faults: Fault[];
  /** The name that agents show, and all editors that are in it now. */
  editors: { editor: string; editors: Editor[] };
  context: Context;
  log: LogEntry;
  chat: Change;
  /** The last event before the server ends. */
  ending: { why: "stopped" | "restarting" };
}

export type Event = { [K in keyof EventData]: { kind: K; data: EventData[K] } }[keyof EventData];
