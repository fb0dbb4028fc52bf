/** Code, commands and output as blocks of text. */

import { Language } from "@codemirror/language";
import { classHighlighter, highlightCode } from "@lezer/highlight";
import type { ComponentChildren } from "preact";
import { languageOf } from "../diff/language";
import { legible, visible } from "../text/visible";
import { Copy } from "../views/copy";

/** Longer code is not coloured: it may be growing, and is read again with every word. */
const MOST_COLOURED = 8_000;

export function CodeBlock({ text, language }: { text: string; language: string }) {
  return (
    <figure class="code">
      <figcaption>
        <span>{visible(language)}</span>
        <Copy text={text} label="Copy" name="copy-code" />
      </figcaption>
      <pre>
        <code>{coloured(text, language)}</code>
      </pre>
    </figure>
  );
}

/** What models call languages, as names of files end. */
const ENDINGS: Record<string, string> = {
  bash: "sh",
  "c++": "cpp",
  csharp: "cs",
  dockerfile: "dockerfile",
  golang: "go",
  haskell: "hs",
  javascript: "js",
  kotlin: "kt",
  markdown: "md",
  ocaml: "ml",
  powershell: "ps1",
  python: "py",
  ruby: "rb",
  rust: "rs",
  shell: "sh",
  typescript: "ts",
};

const languages = new Map<string, Language | undefined>();

function coloured(text: string, name: string): ComponentChildren {
  const language = text.length > MOST_COLOURED ? undefined : languageNamed(name.toLowerCase());
  if (language === undefined) return legible(text);
  const parts: ComponentChildren[] = [];
  highlightCode(
    text,
    language.parser.parse(text),
    classHighlighter,
    (piece, classes) =>
      parts.push(classes ? <span class={classes}>{legible(piece)}</span> : legible(piece)),
    () => parts.push("\n"),
  );
  return parts;
}

function languageNamed(name: string): Language | undefined {
  if (!languages.has(name)) {
    const found = languageOf(`code.${ENDINGS[name] ?? name}`);
    languages.set(name, found instanceof Language ? found : undefined);
  }
  return languages.get(name);
}
