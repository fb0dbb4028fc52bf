/** Requests to the companion. Every failure is an {@link ApiError} with a message for the person. */

import type { Decided, Detail, Drafted } from "./wire";

export class ApiError extends Error {
  constructor(
    /** The HTTP status; 0 if there was no response. */
    readonly status: number,
    /** For programs: `not_found`, `refused`, … */
    readonly kind: string,
    message: string,
    /** What to do about it, if that is known. */
    readonly hint?: string,
  ) {
    super(message);
  }

  /** Whether the proposal was closed meanwhile. */
  get gone(): boolean {
    return this.status === 404;
  }

  /** Whether the proposal has newer texts than those that were decided on. */
  get stale(): boolean {
    return this.kind === "stale";
  }
}

export class Client {
  constructor(private readonly key: string) {}

  detail(id: number): Promise<Detail> {
    return this.request("GET", `/api/proposals/${id}`);
  }

  /** Puts a draft. If there is a newer revision, the companion brings the text into that. */
  draft(id: number, content: string, revision: number): Promise<Drafted> {
    return this.request("PUT", `/api/proposals/${id}/draft`, { content, revision });
  }

  /**
   * Accepts a text. It is always sent: without one the companion would take its own
   * draft, which another tab may have put a moment ago. `revision` is the one that the text
   * was made from; the companion refuses if there is a newer one.
   */
  accept(id: number, content: string, revision: number): Promise<Decided> {
    return this.request("POST", `/api/proposals/${id}/accept`, { content, revision });
  }

  /** Accepts the text as it stands for the companion: with the drafts of this person. */
  acceptAsItStands(id: number, revision: number): Promise<Decided> {
    return this.request("POST", `/api/proposals/${id}/accept`, { revision });
  }

  reject(id: number): Promise<Decided> {
    return this.request("POST", `/api/proposals/${id}/reject`);
  }

  /** Opens the event stream. It resumes after the event `last`, if the server still has it. */
  async events(last: string | undefined, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const headers = this.headers();
    headers.set("Accept", "text/event-stream");
    if (last !== undefined) headers.set("Last-Event-ID", last);
    const response = await send("/api/events", { headers, signal, cache: "no-store" });
    if (!response.ok || response.body === null) throw await errorOf(response);
    return response.body;
  }

  /** One request. The type of the response is what docs/api.md says; it is not checked. */
  async request<T>(method: string, path: string, body?: unknown): Promise<T> {
    const headers = this.headers();
    const init: RequestInit = { method, headers, cache: "no-store" };
    if (body !== undefined) {
      headers.set("Content-Type", "application/json");
      init.body = JSON.stringify(body);
    }
    return json(await send(path, init));
  }

  private headers(): Headers {
    return new Headers({ Authorization: `Bearer ${this.key}` });
  }
}

/** Exchanges the ticket of a link for a key. */
export async function redeem(ticket: string): Promise<string> {
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify({ ticket });
  const response = await send("/api/page", { method: "POST", headers, body });
  return (await json<{ key: string }>(response)).key;
}

async function send(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(path, init);
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(0, "unreachable", "the companion does not answer");
  }
}

async function json<T>(response: Response): Promise<T> {
  if (!response.ok) throw await errorOf(response);
  return (await response.json()) as T;
}

async function errorOf(response: Response): Promise<ApiError> {
  const fallback = `the companion answered with status ${response.status}`;
  try {
    const { kind, message, hint } = (await response.json()) as Partial<ApiError>;
    return new ApiError(response.status, kind ?? "unknown", message ?? fallback, hint);
  } catch {
    return new ApiError(response.status, "unknown", fallback);
  }
}
