/**
 * The types of the conversation with a daemon, field by field as in docs/editor-protocol.md.
 * All text in them comes from a model or its tools, and must reach the screen as text. A newer
 * companion may send kinds, types and speakers that are not listed here.
 */

/** A path on the machine of the daemon; it need not exist on this one. */
export interface DaemonPath {
  daemonPath: string;
  line?: number;
}

export type ToolContent =
  | { type: "text"; text: string }
  | { type: "diff"; path: DaemonPath; oldText?: string; newText: string }
  | ({ type: "attachment" } & Attached);

export type Attachment =
  /** `data` is base64; absent if the picture is too large to be shown. */
  | { type: "image"; mimeType: string; data?: string }
  | { type: "link"; name: string; uri: string }
  | { type: "file"; uri: string; content?: string };

/** What is not text, with a line about it for whoever can show only text. */
export interface Attached {
  text: string;
  attachment: Attachment;
}

export interface Tool {
  id: string;
  title?: string;
  tool?: string;
  kind?: string;
  status?: string;
  content?: ToolContent[];
  files?: DaemonPath[];
  command?: string;
}

/** `task` is a task of the agent that goes on in the background. */
export type Speaker = "me" | "other" | "agent" | "thought" | "task";

export interface Step {
  text: string;
  status?: string;
}

export type TurnEnding = "complete" | "cancelled" | "failed" | "unknown";

export type ChatEntry = { id: number } & (
  | { kind: "said"; speaker: Speaker; text: string }
  | ({ kind: "attached"; speaker: Speaker } & Attached)
  | { kind: "tool"; tool: Tool }
  | { kind: "plan"; steps: Step[] }
  | { kind: "ended"; how: TurnEnding; why?: string; background: boolean }
  | { kind: "note"; text: string }
);

export type DaemonConnection =
  | { state: "off" | "starting" | "connecting" | "catchingUp" | "live" | "reconnecting" }
  | { state: "lost"; why: string; canRetry: boolean }
  | { state: "failed"; trouble: string; why: string; hint?: string };

export interface NamedChoice {
  id: string;
  name: string;
}

export interface ChatStatus {
  connection: DaemonConnection;
  place?: {
    machine?: string;
    workspace: DaemonPath;
    version?: string;
    /** Sentences about whose files, MCP servers, skills and credentials the agent uses. */
    locality: string[];
  };
  /** Whether the companion started the daemon; it then also ends it. */
  managed: boolean;
  title?: string;
  busy: boolean;
  queue: { prompt: string; text?: string }[];
  model?: string;
  models: NamedChoice[];
  mode?: string;
  /** Whether the agent writes files in this mode without asking, as far as anybody knows. */
  unasking?: boolean;
  modes: NamedChoice[];
  commands: [name: string, description: string | null][];
  /** How much of the model's context window is used, in tokens. */
  usage?: { used: number; size: number };
  suggestion?: string;
}

export interface Question {
  question: string;
  header?: string;
  answers: [label: string, description: string | null][];
  several: boolean;
}

export interface AgentRequest {
  request: string;
  title: string;
  tool: Tool;
  options: { id: string; title: string; kind?: string }[];
  questions?: Question[];
  /** What is not reviewed of what happens if the person agrees, in a sentence of the program. */
  unreviewed?: string;
  background: boolean;
  /** The proposal that is the same edit, if the request is about an edit. */
  proposal?: number;
  /** How many clients have agreed, and how many have to. */
  votes?: [number, number];
}

export interface Conversation {
  /** Whether older entries were not kept. */
  shortened: boolean;
  status: ChatStatus;
  requests: AgentRequest[];
  entries: ChatEntry[];
}

/** One step from a conversation to the next. */
export type Change =
  | { change: "put"; entry: ChatEntry }
  | { change: "append"; id: number; text: string }
  | { change: "shorten"; first: number }
  | { change: "clear" }
  | { change: "status"; status: ChatStatus }
  | { change: "requests"; requests: AgentRequest[] };

export interface EarlierConversation {
  key: number;
  title?: string;
  updatedAt?: string;
  busy: boolean;
  current: boolean;
}

export type WhichConversation = "last" | "new" | { earlier: number };

export type Reply = { option: string } | "decline" | { answers: string[][] };

export interface Prompt {
  text: string;
  files: readonly string[];
  selection: boolean;
}
