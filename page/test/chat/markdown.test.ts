import { describe, expect, it } from "vitest";
import { type Block, blockOf, blocksIn, type Inline } from "../../src/chat/markdown/blocks";
import { safeLinkTarget } from "../../src/chat/markdown/link-target";
import { IncrementalParser } from "../../src/chat/markdown/parser";
import { forEachCase } from "../cases";

function blocks(text: string, parser = new IncrementalParser()): Block[] {
  return Array.from(blocksIn(parser.parse(text), text), ({ node }) => blockOf(node, text));
}

/** Blocks as one line each: what they are and what is in them. */
function shape(block: Block): string {
  switch (block.kind) {
    case "paragraph":
      return words(block.inside);
    case "heading":
      return `h${block.level}(${words(block.inside)})`;
    case "code":
      return `code:${block.language}(${JSON.stringify(block.text)})`;
    case "quote":
      return `quote(${block.inside.map(shape).join(" | ")})`;
    case "list":
      return `list${block.start ?? ""}(${block.items
        .map(
          ({ done, inside }) =>
            `${done === undefined ? "" : done ? "☑" : "☐"}${inside.map(shape).join(" | ")}`,
        )
        .join(", ")})`;
    case "table":
      return `table(${[block.head, ...block.rows].map((row) => row.map(words).join("|")).join(" / ")})`;
    case "rule":
      return "rule";
    case "raw":
      return `raw(${block.text})`;
  }
}

function words(inlines: Inline[]): string {
  return inlines
    .map((inline) => {
      if (inline.kind === "text") return inline.text;
      if (inline.kind === "code") return `\`${inline.text}\``;
      if (inline.kind === "break") return "⏎";
      const target = "target" in inline ? ` → ${inline.target}` : "";
      return `${inline.kind}(${words(inline.inside)}${target})`;
    })
    .join("");
}

describe("Markdown becomes", () => {
  const cases: [string, string, string[]][] = [
    ["paragraphs", "one\ntwo\n\nthree", ["one\ntwo", "three"]],
    ["headings", "# A *b*\n\nC\n===", ["h1(A emphasis(b))", "h1(C\n)"]],
    ["styles", "**a *b*** ~~c~~", ["strong(a emphasis(b)) struck(c)"]],
    ["code", "`` a`b `` and ` `", ["`a`b` and ` `"]],
    ["links with their target", '[a *b*](http://x.y "t")', ["link(a emphasis(b) → http://x.y)"]],
    [
      "addresses",
      "<http://a.b> www.c.org d@e.fr",
      [
        "link(http://a.b → http://a.b) link(www.c.org → https://www.c.org) link(d@e.fr → mailto:d@e.fr)",
      ],
    ],
    ["pictures with their target", "![a](http://x.y/z.png)", ["image(a → http://x.y/z.png)"]],
    [
      "references as they are",
      "[a][b] [c]\n\n[b]: http://x.y",
      ["[a][b] [c]", "raw([b]: http://x.y)"],
    ],
    [
      "HTML as it is",
      "a <b onclick=x>c</b>\n\n<script>\nx\n</script>",
      ["a <b onclick=x>c</b>", "raw(<script>\nx\n</script>)"],
    ],
    [
      "characters that were escaped",
      "\\*a\\* &lt;b&gt; &#65; &#x42; &copy;",
      ["*a* <b> A B &copy;"],
    ],
    ["breaks", "a\\\nb", ["a⏎b"]],
    ["lists", "- a\n- b\n  1. c\n\n7. d", ["list(a, b | list1(c))", "list7(d)"]],
    ["tasks", "- [ ] a\n- [x] b", ["list(☐a, ☑b)"]],
    ["quotes", "> a\n> b\n>\n> - c", ["quote(a\nb | list(c))"]],
    ["fenced code", "```rs x\nlet a;\n\n  b\n```", ['code:rs("let a;\\n\\n  b")']],
    ["code that is not finished", "```\na <b>", ['code:("a <b>")']],
    ["fenced code in a quote", "> ```\n> a\n> b\n> ```", ['quote(code:("a\\nb"))']],
    ["indented code", "    a\n    b", ['code:("a\\nb")']],
    ["tables", "|a|b|\n|-|-|\n|1|*2*|\n|3||", ["table(a|b / 1|emphasis(2) / 3|)"]],
    ["rules", "a\n\n---", ["a", "rule"]],
  ];
  it.each(cases)("%s", (_name, text, expected) => {
    expect(blocks(text).map(shape)).toEqual(expected);
  });
});

it("is read the same in pieces as at once", () => {
  const parts = [
    "# a\n",
    "\n",
    "- b",
    "\n  c ",
    "*d",
    "* ",
    "```\n",
    "> ",
    "|x|y|\n|-|-|\n",
    "[l](",
    "u)",
    "1. ",
    "\r\n",
  ];
  forEachCase(100, (random) => {
    const parser = new IncrementalParser();
    let text = "";
    for (let piece = 0; piece < 40; piece += 1) {
      text += random.pick(parts);
      const grown = blocks(text, parser).map(shape);
      expect(grown, JSON.stringify(text)).toEqual(blocks(text).map(shape));
    }
  });
});

describe("what is made to be slow or deep is read anyway", () => {
  const cases: [string, string][] = [
    ["quotes", ">".repeat(20_000)],
    ["quotes in lines", "> > > > > > > > > > > > > > > > > > > > > > x\n".repeat(500)],
    ["lists", Array.from({ length: 400 }, (_, depth) => `${"  ".repeat(depth)}- x`).join("\n")],
    ["styles", "*a **b ".repeat(10_000)],
    ["pictures", "![a](".repeat(10_000)],
    ["brackets", "[".repeat(50_000)],
  ];
  it.each(cases)("%s", (_name, text) => {
    expect(depthOf(blocks(text))).toBeLessThan(100);
  });
});

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

describe("a link", () => {
  const cases: [string, string | undefined][] = [
    ["https://a.b/c?d#e", "https://a.b/c?d#e"],
    ["http://ä.example", "http://xn--4ca.example/"],
    ["mailto:a@b.c", "mailto:a@b.c"],
    ["javascript:alert(1)", undefined],
    [" java\nscript:alert(1)", undefined],
    ["data:text/html,x", undefined],
    ["file:///etc/passwd", undefined],
    ["vscode://x", undefined],
    ["/api/chat", undefined],
    ["#x", undefined],
    ["//a.b", undefined],
    ["", undefined],
  ];
  it.each(cases)("to %j leads to %j", (target, expected) => {
    expect(safeLinkTarget(target)).toBe(expected);
  });
});
