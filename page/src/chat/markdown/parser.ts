/**
 * Parses Markdown incrementally: of a text that grows, only the end is parsed again. The
 * parser is the one that also highlights Markdown files.
 */

import { type Tree, TreeFragment } from "@lezer/common";
import { GFM, type MarkdownConfig, type MarkdownParser, parser } from "@lezer/markdown";

/** Styles further into a paragraph are ignored: the parser's time grows with the square of the length. */
const LONGEST_STYLED = 5_000;

/** Deeper nesting is shown as text. */
const DEEPEST = 16;

const limits: MarkdownConfig = {
  parseBlock: [
    {
      name: "Deep",
      before: "IndentedCode",
      parse(context, line) {
        if (context.depth < DEEPEST) return false;
        const from = context.lineStart + line.pos;
        const to = context.lineStart + line.text.length;
        context.nextLine();
        context.addElement(context.elt("HTMLBlock", from, Math.max(from, to)));
        return true;
      },
    },
  ],
  parseInline: [
    {
      name: "Far",
      before: "Escape",
      parse: (context, _next, at) => (at - context.offset > LONGEST_STYLED ? context.end : -1),
    },
  ],
};

const markdown: MarkdownParser = parser.configure([GFM, limits]);

export class IncrementalParser {
  private text = "";
  private tree: Tree | undefined;

  parse(text: string): Tree {
    const fragments = this.reusable(text);
    this.text = text;
    this.tree = markdown.parse(text, fragments);
    return this.tree;
  }

  /** The parts of the last tree that are still valid. */
  private reusable(text: string): readonly TreeFragment[] {
    if (this.tree === undefined || !text.startsWith(this.text)) return [];
    const whole = TreeFragment.addTree(this.tree);
    const end = this.text.length;
    return TreeFragment.applyChanges(whole, [
      { fromA: end, toA: end, fromB: end, toB: text.length },
    ]);
  }
}
