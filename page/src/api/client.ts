/** Questions to the companion. Every failure is a {@link Problem} with words for the person. */

import type { Decided, Detail, Drafted, Live } from "./wire";

export class Problem extends Error {
  constructor(
    /** The HTTP status; 0 if there was no answer. */
    readonly status: number,
    /** For programs: `not_found`, `refused`, … */
    readonly kind: string,
    message: string,
    /** What to do about it, if that is known. */
    readonly hint?: string,
  ) {
    super(message);
  }

  /** The proposal was decided, withdrawn or replaced meanwhile. */
  get gone(): boolean {
    return this.status === 404;
  }
}

export class Client {
  constructor(private readonly key: string) {}

  live(): Promise<Live> {
    return this.ask("GET", "/api/live");
  }

  detail(id: number): Promise<Detail> {
    return this.ask("GET", `/api/proposals/${id}`);
  }

  draft(id: number, content: string): Promise<Drafted> {
    return this.ask("PUT", `/api/proposals/${id}/draft`, { content });
  }

  /**
   * Accepts a text. It is always sent: without one the companion would take its own
   * draft, which somebody else may have put in this very moment.
   */
  accept(id: number, content: string): Promise<Decided> {
    return this.ask("POST", `/api/proposals/${id}/accept`, { content });
  }

  reject(id: number): Promise<Decided> {
    return this.ask("POST", `/api/proposals/${id}/reject`);
  }

  /**
   * The stream of events, from the one after `last` if that is still known, and with it
   * the conversation from the change after `chat` on.
   */
  async events(
    last: string | undefined,
    chat: number | undefined,
    signal: AbortSignal,
  ): Promise<ReadableStream<Uint8Array>> {
    const headers = this.headers();
    headers.set("Accept", "text/event-stream");
    if (last !== undefined) headers.set("Last-Event-ID", last);
    const place = chat === undefined ? "" : `?chat=${chat}`;
    const answer = await reach(`/api/events${place}`, { headers, signal, cache: "no-store" });
    if (!answer.ok || answer.body === null) throw await problem(answer);
    return answer.body;
  }

  /** One question; the answer is taken for what the companion's documentation says it is. */
  async ask<T>(method: string, path: string, body?: unknown): Promise<T> {
    const headers = this.headers();
    const request: RequestInit = { method, headers, cache: "no-store" };
    if (body !== undefined) {
      headers.set("Content-Type", "application/json");
      request.body = JSON.stringify(body);
    }
    return answered(await reach(path, request));
  }

  private headers(): Headers {
    return new Headers({ Authorization: `Bearer ${this.key}` });
  }
}

/** Trades the ticket of a link for the key of this tab. */
export async function redeem(ticket: string): Promise<string> {
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify({ ticket });
  const answer = await reach("/api/page", { method: "POST", headers, body });
  return (await answered<{ key: string }>(answer)).key;
}

async function reach(path: string, request: RequestInit): Promise<Response> {
  try {
    return await fetch(path, request);
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new Problem(0, "unreachable", "the companion does not answer");
  }
}

async function answered<T>(answer: Response): Promise<T> {
  if (!answer.ok) throw await problem(answer);
  return (await answer.json()) as T;
}

async function problem(answer: Response): Promise<Problem> {
  const fallback = `the companion answered with status ${answer.status}`;
  try {
    const { kind, message, hint } = (await answer.json()) as Partial<Problem>;
    return new Problem(answer.status, kind ?? "unknown", message ?? fallback, hint);
  } catch {
    return new Problem(answer.status, "unknown", fallback);
  }
}
