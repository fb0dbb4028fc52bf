/**
 * What the companion's API says and hears, field by field as in docs/api.md.
 * Times are Unix milliseconds. Everything that an agent wrote is a plain string
 * here and must reach the screen as text.
 */

export interface Session {
  id: string;
  agent: string;
  client: { name: string; version: string };
  since: number;
  streaming: boolean;
  undelivered: number;
}

export interface Status {
  pid: number;
  port: number;
  version: string;
  editor: string;
  roots: string[];
  sessions: Session[];
  problems: string[];
}

export interface Proposal {
  id: number;
  path: string;
  agent: string;
  session: string;
  opened_at: number;
  new_file: boolean;
  hunks: number;
  /** Whether another text, or some of the hunks, can be accepted. */
  editable: boolean;
  terminal_only?: string;
}

/** Half-open ranges of lines, counted from 0; lines are what `\n` ends. */
export interface HunkAt {
  id: number;
  original: [number, number];
  proposed: [number, number];
}

export interface Detail extends Proposal {
  original?: string;
  proposed: string;
  /** The hunks between `original` and `proposed`. */
  hunks_at: HunkAt[];
  /** A draft that differs from `proposed`. */
  current?: string;
  /** The hunks between `original` and `current`. */
  current_hunks_at?: HunkAt[];
}

export interface Drafted {
  hunks_at: HunkAt[];
}

export interface Decided {
  agent: string;
  streaming: boolean;
}

export interface SeenFile {
  path: string;
  active: boolean;
  line?: number;
  column?: number;
  selection?: string;
}

export interface Context {
  paused: boolean;
  files: SeenFile[];
  held_back: { path: string; reason: string }[];
  bytes: number;
  at?: number;
}

export type EntryKind =
  | "connected"
  | "disconnected"
  | "context"
  | "proposed"
  | "accepted"
  | "rejected"
  | "withdrawn"
  | "replaced"
  | "orphaned"
  | "paused"
  | "resumed";

export interface Entry {
  seq: number;
  at: number;
  kind: EntryKind;
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

export interface Live {
  instance: string;
  seq: number;
  status: Status;
  proposals: Proposal[];
  context: Context;
  log: Entry[];
  hints: Hints;
  /** Whether there can be a conversation with a daemon. */
  chat: boolean;
}

export type Why = "accepted" | "rejected" | "withdrawn" | "replaced" | "orphaned";

export interface Events {
  opened: Proposal;
  changed: { id: number };
  closed: { id: number; why: Why };
  sessions: Session[];
  context: Context;
  log: Entry;
  reset: Record<string, never>;
}

export type Event = { [K in keyof Events]: { kind: K; data: Events[K] } }[keyof Events];
