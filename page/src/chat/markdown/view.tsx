/** Markdown on the screen. Nothing in it is HTML, is loaded, or opens without a click. */

import type { ComponentChildren, VNode } from "preact";
import { useRef } from "preact/hooks";
import { visible, visibleLines } from "../../text/visible";
import { CodeBlock } from "../code-block";
import { type Block, blockOf, blocksIn, type Inline, type Item } from "./blocks";
import { safeLinkTarget } from "./link-target";
import { IncrementalParser } from "./parser";

export function Markdown({ text }: { text: string }) {
  const cache = useRef<BlockCache | undefined>(undefined);
  cache.current ??= new BlockCache();
  return <div class="prose">{cache.current.render(text)}</div>;
}

/** While a text grows, all blocks but the last stay the same objects, so that they are not drawn again. */
class BlockCache {
  private readonly parser = new IncrementalParser();
  private known: { name: string; source: string; shown: VNode }[] = [];

  render(text: string): VNode[] {
    const tree = this.parser.parse(text);
    this.known = Array.from(blocksIn(tree, text), ({ source, node }, index) => {
      const before = this.known[index];
      if (before?.source === source && before.name === node.name) return before;
      const shown = <BlockView key={index} block={blockOf(node, text)} />;
      return { name: node.name, source, shown };
    });
    return this.known.map(({ shown }) => shown);
  }
}

function BlockView({ block }: { block: Block }): VNode {
  switch (block.kind) {
    case "paragraph":
      return <p>{inlines(block.inside)}</p>;
    case "heading":
      // Not a heading element: the model must not change the outline of the page.
      return (
        <p class="heading" data-level={block.level}>
          {inlines(block.inside)}
        </p>
      );
    case "code":
      return <CodeBlock text={block.text} language={block.language} />;
    case "quote":
      return <blockquote>{blocks(block.inside)}</blockquote>;
    case "list":
      return block.start === undefined ? (
        <ul>{block.items.map(item)}</ul>
      ) : (
        <ol start={block.start}>{block.items.map(item)}</ol>
      );
    case "table":
      return <Table head={block.head} rows={block.rows} />;
    case "rule":
      return <hr />;
    case "raw":
      return <p class="raw">{visibleLines(block.text)}</p>;
  }
}

function blocks(all: readonly Block[]): VNode[] {
  return all.map((block, index) => <BlockView key={index} block={block} />);
}

function item({ done, inside }: Item, index: number): VNode {
  if (done === undefined) return <li key={index}>{blocks(inside)}</li>;
  return (
    <li key={index} class="task" data-done={done}>
      <span class="visually-hidden">{done ? "done: " : "to do: "}</span>
      {blocks(inside)}
    </li>
  );
}

function Table({ head, rows }: { head: Inline[][]; rows: Inline[][][] }) {
  return (
    <table>
      <thead>
        <tr>
          {head.map((cell, index) => (
            <th key={index} scope="col">
              {inlines(cell)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, index) => (
          <tr key={index}>
            {row.map((cell, column) => (
              <td key={column}>{inlines(cell)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function inlines(all: readonly Inline[]): ComponentChildren[] {
  return all.map((inline, index) =>
    inline.kind === "text" ? visibleLines(inline.text) : <InlineView key={index} inline={inline} />,
  );
}

function InlineView({ inline }: { inline: Exclude<Inline, { kind: "text" }> }): VNode {
  switch (inline.kind) {
    case "code":
      return <code>{visibleLines(inline.text)}</code>;
    case "strong":
      return <strong>{inlines(inline.inside)}</strong>;
    case "emphasis":
      return <em>{inlines(inline.inside)}</em>;
    case "struck":
      return <s>{inlines(inline.inside)}</s>;
    case "break":
      return <br />;
    case "link":
      return <Link target={inline.target} inside={inline.inside} />;
    case "image":
      return (
        <>
          [picture: {inlines(inline.inside)}]<Target target={inline.target} />
        </>
      );
  }
}

/** A link and its target. A link that may not be opened is text. */
function Link({ target, inside }: { target: string; inside: Inline[] }) {
  const href = safeLinkTarget(target);
  const shown = href ?? target;
  const says = textOf(inside);
  const said = says === shown || `${says}/` === shown || says === target;
  return (
    <>
      {href === undefined ? (
        inlines(inside)
      ) : (
        <a href={href} target="_blank" rel="noopener noreferrer">
          {inlines(inside)}
        </a>
      )}
      {!said && <Target target={shown} />}
    </>
  );
}

function Target({ target }: { target: string }) {
  return (
    <span class="target">
      {" ("}
      <bdi>{visible(target)}</bdi>)
    </span>
  );
}

function textOf(all: readonly Inline[]): string {
  return all
    .map((inline) => {
      if ("text" in inline) return inline.text;
      return "inside" in inline ? textOf(inline.inside) : " ";
    })
    .join("");
}
