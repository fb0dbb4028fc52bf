/** A block of code with syntax highlighting and a copy button. */

import { Language } from "@codemirror/language";
import { classHighlighter, highlightCode } from "@lezer/highlight";
import type { ComponentChildren } from "preact";
import { languageOf } from "../diff/language";
import { visible, visibleLines } from "../text/visible";
import { CopyButton } from "../views/copy-button";

/** Longer code is not highlighted: while it is streamed, it is parsed again with every word. */
const LONGEST_HIGHLIGHTED = 8_000;

export function CodeBlock({ text, language }: { text: string; language: string }) {
  return (
    <figure class="code">
      <figcaption>
        <span>{visible(language)}</span>
        <CopyButton text={text} label="Copy" name="copy-code" />
      </figcaption>
      <pre>
        <code>{highlighted(text, language)}</code>
      </pre>
    </figure>
  );
}

/** The file extensions of languages that models call by name. */
const EXTENSIONS: Record<string, string> = {
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

function highlighted(text: string, name: string): ComponentChildren {
  const language =
    text.length > LONGEST_HIGHLIGHTED ? undefined : languageNamed(name.toLowerCase());
  if (language === undefined) return visibleLines(text);
  const parts: ComponentChildren[] = [];
  highlightCode(
    text,
    language.parser.parse(text),
    classHighlighter,
    (piece, classes) =>
      parts.push(
        classes ? <span class={classes}>{visibleLines(piece)}</span> : visibleLines(piece),
      ),
    () => parts.push("\n"),
  );
  return parts;
}

function languageNamed(name: string): Language | undefined {
  if (!languages.has(name)) {
    const found = languageOf(`code.${EXTENSIONS[name] ?? name}`);
    languages.set(name, found instanceof Language ? found : undefined);
  }
  return languages.get(name);
}
