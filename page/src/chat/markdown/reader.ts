/**
 * Reads Markdown with the parser that also colours Markdown files. It is incremental:
 * of a text that grows, only the end is read again.
 */

import { type Tree, TreeFragment } from "@lezer/common";
import { GFM, type MarkdownConfig, type MarkdownParser, parser } from "@lezer/markdown";

/** What stands further in a paragraph is not looked at: the parser's time grows with the square. */
const LONGEST_STYLED = 5_000;

/** What is nested deeper is text. */
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

export class Reader {
  private text = "";
  private tree: Tree | undefined;

  read(text: string): Tree {
    const fragments = this.known(text);
    this.text = text;
    this.tree = markdown.parse(text, fragments);
    return this.tree;
  }

  /** What is still true of the tree from before. */
  private known(text: string): readonly TreeFragment[] {
    if (this.tree === undefined || !text.startsWith(this.text)) return [];
    const whole = TreeFragment.addTree(this.tree);
    const end = this.text.length;
    return TreeFragment.applyChanges(whole, [
      { fromA: end, toA: end, fromB: end, toB: text.length },
    ]);
  }
}
