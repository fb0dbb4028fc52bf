import { describe, expect, it } from "vitest";
import { shownAs } from "../../src/chat/attachment";
import { textOfUnknown } from "../../src/chat/unknown";
import type { Attachment } from "../../src/chat/wire";

const shown = (attachment: Attachment) => shownAs({ text: "a line", attachment });
const picture = (mimeType: string, data?: string) =>
  shown({ type: "image", mimeType, ...(data !== undefined && { data }) });
const link = (name: string, uri: string) => shown({ type: "link", name, uri });

describe("an attachment", () => {
  it.each(["image/png", "image/jpeg", "image/gif", "image/webp"])("of %s is a picture", (type) => {
    const source = `data:${type};base64,iVBORw0+/A==`;
    expect(picture(type, "iVBORw0+/A==")).toEqual({ as: "picture", source });
  });

  it.each([
    ["image/svg+xml", "AAAA"],
    ["text/html", "AAAA"],
    ["image/png;x", "AAAA"],
    ["IMAGE/PNG", "AAAA"],
    ["", "AAAA"],
    ["image/png", undefined],
    ["image/png", ""],
    ["image/png", "AA=A"],
    ["image/png", "AAAA==="],
    ["image/png", "AA,<svg onload=x>"],
    ["image/png", "AAAA\n"],
    ["image/png", 'AAAA" onerror="x'],
    ["image/png", "AA%41"],
  ])("of %s with %s is its line of text", (type, data) => {
    expect(picture(type, data)).toEqual({ as: "line" });
  });

  it("opens addresses of the web and no others", () => {
    const cases: [uri: string, href: string | undefined][] = [
      ["https://a.example/x", "https://a.example/x"],
      ["http://a.example", "http://a.example/"],
      ["https://bücher.example/", "https://xn--bcher-kva.example/"],
      ["javascript:alert(1)", undefined],
      ["JavaScript:alert(1)", undefined],
      ["data:text/html,x", undefined],
      ["file:///etc/passwd", undefined],
      ["vscode://open", undefined],
      ["mailto:a@b.example", undefined],
      ["//a.example/x", undefined],
      ["a.txt", undefined],
      ["", undefined],
    ];
    for (const [uri, href] of cases) {
      expect(link("a", uri), uri).toEqual({ as: "link", name: "a", uri, href });
    }
  });

  it("has a name only beside an address that says something else", () => {
    expect(link("", "file:///a")).toMatchObject({ name: undefined });
    expect(link("file:///a", "file:///a")).toMatchObject({ name: undefined });
  });

  it("shows what is not seen", () => {
    const evil = link("a\u202eb\nc", "file:///\u001b]0;x");
    expect(evil).toMatchObject({ name: "a⟨202E⟩b⟨000A⟩c", uri: "file:///⟨001B⟩]0;x" });
    const file = shown({ type: "file", uri: "file:///\u200b", content: "x" });
    expect(file).toMatchObject({ uri: "file:///⟨200B⟩" });
  });

  it("is a file if there is something in it", () => {
    const uri = "file:///a";
    expect(shown({ type: "file", uri, content: "" })).toEqual({ as: "file", uri, content: "" });
    expect(shown({ type: "file", uri })).toEqual({ as: "line" });
  });

  it("of a type that is not known is its line of text", () => {
    expect(shown({ type: "hologram" } as never)).toEqual({ as: "line" });
  });
});

describe("what a newer companion sends", () => {
  it.each([
    [{ text: "said\u202e\n" }, "said⟨202E⟩\n"],
    [{ text: "" }, ""],
    [{}, "Something is not shown here, because this page does not know it: dance⟨001B⟩."],
    [{ text: 7 }, "Something is not shown here, because this page does not know it: dance⟨001B⟩."],
  ])("is its text, or said to be missing: %j", (what, text) => {
    expect(textOfUnknown("dance\u001b", what)).toBe(text);
  });
});
