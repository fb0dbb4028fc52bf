/** Server-sent events out of a stream of text, as the HTML standard cuts them. */

export interface Frame {
  id: string | undefined;
  event: string;
  data: string;
}

/** Takes text in pieces of any size and gives the frames that became complete. */
export class FrameReader {
  private rest = "";
  private id: string | undefined;
  private event = "";
  private data: string[] = [];

  push(text: string): Frame[] {
    const frames: Frame[] = [];
    const buffer = this.rest + text;
    // A `\r` at the very end may be half of a `\r\n`.
    const usable = buffer.endsWith("\r") ? buffer.length - 1 : buffer.length;
    let start = 0;
    for (const end of buffer.slice(0, usable).matchAll(/\r\n|\r|\n/g)) {
      const frame = this.line(buffer.slice(start, end.index));
      if (frame !== undefined) frames.push(frame);
      start = end.index + end[0].length;
    }
    this.rest = buffer.slice(start);
    return frames;
  }

  private line(line: string): Frame | undefined {
    if (line === "") return this.finish();
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "id") this.id = value;
    else if (name === "event") this.event = value;
    else if (name === "data") this.data.push(value);
    return undefined;
  }

  private finish(): Frame | undefined {
    const { id, event, data } = this;
    this.id = undefined;
    this.event = "";
    this.data = [];
    if (data.length === 0) return undefined;
    return { id, event: event === "" ? "message" : event, data: data.join("\n") };
  }
}
