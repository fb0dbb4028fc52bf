/** Markdown on the screen. Nothing in it is ever HTML, is loaded, or opens by itself. */

import type { ComponentChildren, VNode } from "preact";
import { useRef } from "preact/hooks";
import { legible, visible } from "../../text/visible";
import { CodeBlock } from "../code";
import { type Block, blockOf, blocksIn, type Inline, type Item } from "./blocks";
import { Reader } from "./reader";
import { safeTarget } from "./target";

export function Markdown({ text }: { text: string }) {
  const pieces = useRef<Pieces | undefined>(undefined);
  pieces.current ??= new Pieces();
  return <div class="prose">{pieces.current.of(text)}</div>;
}

/** While a text grows, its blocks but the last are the same objects, and are not looked at again. */
class Pieces {
  private readonly reader = new Reader();
  private known: { name: string; source: string; shown: VNode }[] = [];

  of(text: string): VNode[] {
    const tree = this.reader.read(text);
    this.known = Array.from(blocksIn(tree, text), ({ source, node }, index) => {
      const before = this.known[index];
      if (before?.source === source && before.name === node.name) return before;
      const shown = <Piece key={index} block={blockOf(node, text)} />;
      return { name: node.name, source, shown };
    });
    return this.known.map(({ shown }) => shown);
  }
}

function Piece({ block }: { block: Block }): VNode {
  switch (block.kind) {
    case "paragraph":
      return <p>{inlines(block.inside)}</p>;
    case "heading":
      // Not a heading of the page, whose outline is not the model's to write.
      return (
        <p class="heading" data-level={block.level}>
          {inlines(block.inside)}
        </p>
      );
    case "code":
      return <CodeBlock text={block.text} language={block.language} />;
    case "quote":
      return <blockquote>{pieces(block.inside)}</blockquote>;
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
      return <p class="raw">{legible(block.text)}</p>;
  }
}

function pieces(blocks: readonly Block[]): VNode[] {
  return blocks.map((block, index) => <Piece key={index} block={block} />);
}

function item({ done, inside }: Item, index: number): VNode {
  if (done === undefined) return <li key={index}>{pieces(inside)}</li>;
  return (
    <li key={index} class="task" data-done={done}>
      <span class="unheard">{done ? "done: " : "to do: "}</span>
      {pieces(inside)}
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
    inline.kind === "text" ? legible(inline.text) : <Words key={index} inline={inline} />,
  );
}

function Words({ inline }: { inline: Exclude<Inline, { kind: "text" }> }): VNode {
  switch (inline.kind) {
    case "code":
      return <code>{legible(inline.text)}</code>;
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

/** A link and where it leads. What may not be opened from here is text. */
function Link({ target, inside }: { target: string; inside: Inline[] }) {
  const href = safeTarget(target);
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
