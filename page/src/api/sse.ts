/** A parser for server-sent events, as the HTML standard defines them. */

export interface SseEvent {
  id: string | undefined;
  event: string;
  data: string;
}

/** Takes text in parts of any size and returns the events that became complete. */
export class SseParser {
  private rest = "";
  private id: string | undefined;
  private event = "";
  private data: string[] = [];

  push(text: string): SseEvent[] {
    const events: SseEvent[] = [];
    const buffer = this.rest + text;
    // A `\r` at the very end may be half of a `\r\n`.
    const usable = buffer.endsWith("\r") ? buffer.length - 1 : buffer.length;
    let start = 0;
    for (const end of buffer.slice(0, usable).matchAll(/\r\n|\r|\n/g)) {
      const event = this.line(buffer.slice(start, end.index));
      if (event !== undefined) events.push(event);
      start = end.index + end[0].length;
    }
    this.rest = buffer.slice(start);
    return events;
  }

  private line(line: string): SseEvent | undefined {
    if (line === "") return this.finish();
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "id") this.id = value;
    else if (name === "event") this.event = value;
    else if (name === "data") this.data.push(value);
    return undefined;
  }

  private finish(): SseEvent | undefined {
    const { id, event, data } = this;
    this.id = undefined;
    this.event = "";
    this.data = [];
    if (data.length === 0) return undefined;
    return { id, event: event === "" ? "message" : event, data: data.join("\n") };
  }
}
