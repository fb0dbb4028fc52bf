/**
 * The Markdown elements that are shown: a closed list, made of nothing but text. Anything
 * else, such as HTML, is shown as its source. Pure.
 */

import type { SyntaxNode, Tree } from "@lezer/common";

export type Inline =
  | { kind: "text"; text: string }
  | { kind: "code"; text: string }
  | { kind: "strong" | "emphasis" | "struck"; inside: Inline[] }
  | { kind: "link"; target: string; inside: Inline[] }
  /** A picture is not loaded: the request would tell its server that it was viewed. */
  | { kind: "image"; target: string; inside: Inline[] }
  | { kind: "break" };

export type Block =
  | { kind: "paragraph"; inside: Inline[] }
  | { kind: "heading"; level: number; inside: Inline[] }
  | { kind: "code"; language: string; text: string }
  | { kind: "quote"; inside: Block[] }
  | { kind: "list"; start: number | undefined; items: Item[] }
  | { kind: "table"; head: Inline[][]; rows: Inline[][][] }
  | { kind: "rule" }
  | { kind: "raw"; text: string };

export interface Item {
  /** Whether it is done, if it is a task. */
  done: boolean | undefined;
  inside: Block[];
}

/** The blocks of a text, each with its source. */
export function* blocksIn(
  tree: Tree,
  text: string,
): Generator<{ source: string; node: SyntaxNode }> {
  for (const node of childrenOf(tree.topNode)) {
    yield { source: text.slice(node.from, node.to), node };
  }
}

export function blockOf(node: SyntaxNode, text: string): Block {
  const heading = /^(?:ATX|Setext)Heading(\d)$/.exec(node.name);
  if (heading !== null) {
    return { kind: "heading", level: Number(heading[1]), inside: trimmed(inlinesIn(node, text)) };
  }
  switch (node.name) {
    case "Paragraph":
      return { kind: "paragraph", inside: inlinesIn(node, text) };
    case "Task":
      return { kind: "paragraph", inside: trimmed(inlinesIn(node, text)) };
    case "FencedCode":
    case "CodeBlock":
      return codeOf(node, text);
    case "Blockquote":
      return { kind: "quote", inside: innerBlocks(node, text) };
    case "BulletList":
      return { kind: "list", start: undefined, items: itemsOf(node, text) };
    case "OrderedList": {
      const mark = node.getChild("ListItem")?.getChild("ListMark");
      const start = mark ? Number.parseInt(text.slice(mark.from, mark.to), 10) : 1;
      return { kind: "list", start, items: itemsOf(node, text) };
    }
    case "Table":
      return tableOf(node, text);
    case "HorizontalRule":
      return { kind: "rule" };
    default:
      return { kind: "raw", text: text.slice(node.from, node.to) };
  }
}

function innerBlocks(node: SyntaxNode, text: string): Block[] {
  const inner = childrenOf(node).filter((child) => !MARKS.has(child.name));
  return inner.map((child) => blockOf(child, text));
}

function codeOf(node: SyntaxNode, text: string): Block {
  const info = node.getChild("CodeInfo");
  const language = info ? text.slice(info.from, info.to).split(/[\s,{]/, 1)[0] : undefined;
  const lines = node.getChildren("CodeText").map(({ from, to }) => text.slice(from, to));
  return { kind: "code", language: language ?? "", text: lines.join("") };
}

function itemsOf(node: SyntaxNode, text: string): Item[] {
  return node.getChildren("ListItem").map((item) => {
    const marker = item.getChild("Task")?.getChild("TaskMarker");
    const done = marker ? text.slice(marker.from, marker.to) !== "[ ]" : undefined;
    return { done, inside: innerBlocks(item, text) };
  });
}

function tableOf(node: SyntaxNode, text: string): Block {
  const header = node.getChild("TableHeader");
  return {
    kind: "table",
    head: header ? cellsOf(header, text) : [],
    rows: node.getChildren("TableRow").map((row) => cellsOf(row, text)),
  };
}

/** The cells of a row; the parser has no node for an empty one. */
function cellsOf(row: SyntaxNode, text: string): Inline[][] {
  const cells: Inline[][] = [];
  let afterDelimiter = false;
  for (const child of childrenOf(row)) {
    const delimiter = child.name === "TableDelimiter";
    if (!delimiter) cells.push(inlinesIn(child, text));
    else if (afterDelimiter) cells.push([]);
    afterDelimiter = delimiter;
  }
  return cells;
}

/** Markup characters, which are not shown. */
const MARKS = new Set([
  "HeaderMark",
  "QuoteMark",
  "ListMark",
  "TaskMarker",
  "EmphasisMark",
  "StrikethroughMark",
  "CodeMark",
  "LinkMark",
]);

/** Deeper nesting is shown as text. */
const DEEPEST = 16;

function inlinesIn(node: SyntaxNode, text: string, depth = 0): Inline[] {
  return between(node, node.from, node.to, text, depth);
}

function between(
  node: SyntaxNode,
  from: number,
  to: number,
  text: string,
  depth: number,
): Inline[] {
  if (depth > DEEPEST) return plain(text.slice(from, to));
  const found: Inline[] = [];
  let at = from;
  for (const child of childrenOf(node)) {
    if (child.from < from || child.to > to) continue;
    found.push(...plain(text.slice(at, child.from)));
    found.push(...inlineOf(child, text, depth));
    at = child.to;
    // The space after `>` belongs to it.
    if (child.name === "QuoteMark" && text[at] === " ") at += 1;
  }
  found.push(...plain(text.slice(at, to)));
  return found;
}

function inlineOf(node: SyntaxNode, text: string, depth: number): Inline[] {
  const source = text.slice(node.from, node.to);
  switch (node.name) {
    case "StrongEmphasis":
      return [{ kind: "strong", inside: inlinesIn(node, text, depth + 1) }];
    case "Emphasis":
      return [{ kind: "emphasis", inside: inlinesIn(node, text, depth + 1) }];
    case "Strikethrough":
      return [{ kind: "struck", inside: inlinesIn(node, text, depth + 1) }];
    case "InlineCode":
      return [{ kind: "code", text: inlineCode(node, text) }];
    case "Link":
    case "Image":
      return linkOf(node, text, depth);
    case "Autolink": {
      const target = source.slice(1, -1);
      return [{ kind: "link", target: addressOf(target), inside: plain(target) }];
    }
    case "URL":
      return [{ kind: "link", target: addressOf(source), inside: plain(source) }];
    case "Escape":
      return plain(source.slice(1));
    case "Entity":
      return plain(decoded(source));
    case "HardBreak":
      return [{ kind: "break" }];
    default:
      return MARKS.has(node.name) ? [] : plain(source);
  }
}

function inlineCode(node: SyntaxNode, text: string): string {
  const [open, close] = node.getChildren("CodeMark");
  const code = text.slice(open?.to ?? node.from, close?.from ?? node.to).replaceAll("\n", " ");
  return /^ .*[^ ].* $|^ [^ ] $/.test(code) ? code.slice(1, -1) : code;
}

/** An inline link. Reference links stay text: their definitions are not looked up. */
function linkOf(node: SyntaxNode, text: string, depth: number): Inline[] {
  const url = node.getChild("URL");
  const [open, close] = node.getChildren("LinkMark");
  if (url === null || open === undefined || close === undefined) {
    return plain(text.slice(node.from, node.to));
  }
  const written = text.slice(url.from, url.to);
  const target = written.startsWith("<") ? written.slice(1, -1) : written;
  const inside = between(node, open.to, close.from, text, depth + 1);
  return [{ kind: node.name === "Image" ? "image" : "link", target, inside }];
}

/** The full address of a bare one. */
function addressOf(written: string): string {
  if (/^[a-z][a-z0-9+.-]*:/i.test(written)) return written;
  return written.includes("@") ? `mailto:${written}` : `https://${written}`;
}

const NAMED: Record<string, string> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00a0",
};

/** The character of an entity. Only numbers and a few common names are decoded. */
function decoded(source: string): string {
  const name = source.slice(1, -1);
  if (!name.startsWith("#")) return NAMED[name] ?? source;
  const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : source;
}

function plain(text: string): Inline[] {
  return text === "" ? [] : [{ kind: "text", text }];
}

/** Without the space between the markup and the words. */
function trimmed(inlines: Inline[]): Inline[] {
  const [first, ...rest] = inlines;
  if (first?.kind !== "text") return inlines;
  return [...plain(first.text.trimStart()), ...rest];
}

function childrenOf(node: SyntaxNode): SyntaxNode[] {
  const children: SyntaxNode[] = [];
  for (let child = node.firstChild; child; child = child.nextSibling) children.push(child);
  return children;
}
