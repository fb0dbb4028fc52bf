/** Requests to the companion about the conversation with a daemon. */

import type { Client } from "../api/client";
import type { EarlierConversation, Prompt, Reply, WhichConversation } from "./wire";

export class ChatApi {
  constructor(private readonly client: Client) {}

  connect(which: WhichConversation): Promise<null> {
    return this.client.request("POST", "/api/chat/connect", { which });
  }

  /** Starts a daemon for this folder and connects to it. */
  start(): Promise<null> {
    return this.client.request("POST", "/api/chat/start");
  }

  prompt(prompt: Prompt): Promise<null> {
    return this.client.request("POST", "/api/chat/prompt", prompt);
  }

  cancel(): Promise<null> {
    return this.client.request("POST", "/api/chat/cancel");
  }

  /** `withdrawn` is false if the prompt runs already. */
  withdraw(prompt: string): Promise<{ withdrawn: boolean }> {
    return this.client.request("DELETE", `/api/chat/queue/${encodeURIComponent(prompt)}`);
  }

  setModel(model: string): Promise<null> {
    return this.client.request("POST", "/api/chat/model", { model });
  }

  setMode(mode: string): Promise<null> {
    return this.client.request("POST", "/api/chat/mode", { mode });
  }

  /** `counted` is false if somebody else answered first. */
  answer(request: string, reply: Reply): Promise<{ counted: boolean }> {
    const path = `/api/chat/requests/${encodeURIComponent(request)}`;
    return this.client.request("POST", path, { reply });
  }

  earlier(): Promise<EarlierConversation[]> {
    return this.client.request("GET", "/api/chat/earlier");
  }

  /** Files of the workspace whose path contains what was typed. */
  files(typed: string): Promise<string[]> {
    return this.client.request("GET", `/api/chat/files?typed=${encodeURIComponent(typed)}`);
  }
}
