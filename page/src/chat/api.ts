/** Questions to the companion about the conversation with a daemon. */

import type { Client } from "../api/client";
import type { Earlier, Prompt, Reply, Which } from "./wire";

export class ChatApi {
  constructor(private readonly client: Client) {}

  connect(which: Which): Promise<null> {
    return this.client.ask("POST", "/api/chat/connect", { which });
  }

  /** Starts a daemon for this folder and connects to it. */
  start(): Promise<null> {
    return this.client.ask("POST", "/api/chat/start");
  }

  prompt(prompt: Prompt): Promise<null> {
    return this.client.ask("POST", "/api/chat/prompt", prompt);
  }

  cancel(): Promise<null> {
    return this.client.ask("POST", "/api/chat/cancel");
  }

  setModel(model: string): Promise<null> {
    return this.client.ask("POST", "/api/chat/model", { model });
  }

  setMode(mode: string): Promise<null> {
    return this.client.ask("POST", "/api/chat/mode", { mode });
  }

  /** Whether the answer counts: somebody else may have been faster. */
  answer(request: string, reply: Reply): Promise<{ counted: boolean }> {
    const path = `/api/chat/requests/${encodeURIComponent(request)}`;
    return this.client.ask("POST", path, { reply });
  }

  earlier(): Promise<Earlier[]> {
    return this.client.ask("GET", "/api/chat/earlier");
  }

  /** Files of the workspace whose path holds what was typed. */
  files(typed: string): Promise<string[]> {
    return this.client.ask("GET", `/api/chat/files?typed=${encodeURIComponent(typed)}`);
  }
}
