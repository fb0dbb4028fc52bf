/**
 * Syntax highlighting, by the name of the file. All languages are part of the editor
 * bundle. To keep it small, only grammars are used, without completion, and the smaller
 * legacy modes where they highlight as well.
 */

import {
  defineLanguageFacet,
  Language,
  LRLanguage,
  StreamLanguage,
  type StreamParser,
} from "@codemirror/language";
import { c, cpp, csharp, dart, java, kotlin, scala } from "@codemirror/legacy-modes/mode/clike";
import { cmake } from "@codemirror/legacy-modes/mode/cmake";
import { diff } from "@codemirror/legacy-modes/mode/diff";
import { dockerFile } from "@codemirror/legacy-modes/mode/dockerfile";
import { go } from "@codemirror/legacy-modes/mode/go";
import { haskell } from "@codemirror/legacy-modes/mode/haskell";
import { lua } from "@codemirror/legacy-modes/mode/lua";
import { oCaml } from "@codemirror/legacy-modes/mode/mllike";
import { powerShell } from "@codemirror/legacy-modes/mode/powershell";
import { properties } from "@codemirror/legacy-modes/mode/properties";
import { protobuf } from "@codemirror/legacy-modes/mode/protobuf";
import { python } from "@codemirror/legacy-modes/mode/python";
import { r } from "@codemirror/legacy-modes/mode/r";
import { ruby } from "@codemirror/legacy-modes/mode/ruby";
import { rust } from "@codemirror/legacy-modes/mode/rust";
import { shell } from "@codemirror/legacy-modes/mode/shell";
import { standardSQL } from "@codemirror/legacy-modes/mode/sql";
import { swift } from "@codemirror/legacy-modes/mode/swift";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import { yaml } from "@codemirror/legacy-modes/mode/yaml";
import type { Extension } from "@codemirror/state";
import type { Parser } from "@lezer/common";
import { parser as css } from "@lezer/css";
import { configureNesting, parser as html } from "@lezer/html";
import { parser as javascript } from "@lezer/javascript";
import { parser as json } from "@lezer/json";
import type { LRParser } from "@lezer/lr";
import { GFM, parser as markdown } from "@lezer/markdown";
import { parser as xml } from "@lezer/xml";

const grammar = (parser: LRParser) => () => LRLanguage.define({ parser });
const mode = (parser: StreamParser<unknown>) => () => StreamLanguage.define(parser);

const nested: { tag: string; parser: Parser }[] = [
  { tag: "script", parser: javascript },
  { tag: "style", parser: css },
];

const LANGUAGES: [names: string, make: () => Extension][] = [
  [".js .mjs .cjs .jsx", grammar(javascript.configure({ dialect: "jsx" }))],
  [".ts .mts .cts", grammar(javascript.configure({ dialect: "ts" }))],
  [".tsx", grammar(javascript.configure({ dialect: "jsx ts" }))],
  [".py .pyi .bzl build workspace sconstruct", mode(python)],
  [".rs", mode(rust)],
  [".html .htm .vue .svelte", grammar(html.configure({ wrap: configureNesting(nested) }))],
  [".css .scss .less", grammar(css)],
  [".json .jsonc .json5 .webmanifest .ipynb", grammar(json)],
  [
    ".md .markdown .mdx",
    () => new Language(defineLanguageFacet(), markdown.configure(GFM), [], "markdown"),
  ],
  [".c .h", mode(c)],
  [".cc .cpp .cxx .hh .hpp .hxx .ino .cu", mode(cpp)],
  [".java", mode(java)],
  [".go", mode(go)],
  [".sql", mode(standardSQL)],
  [".xml .svg .xsl .xsd .plist .csproj .fsproj", grammar(xml)],
  [".yaml .yml .clang-format", mode(yaml)],
  [".sh .bash .zsh .fish .bashrc .zshrc .profile pkgbuild", mode(shell)],
  [".toml cargo.lock poetry.lock", mode(toml)],
  [".rb .rake .gemspec gemfile rakefile", mode(ruby)],
  [".lua", mode(lua)],
  ["dockerfile containerfile .dockerfile", mode(dockerFile)],
  [".cs", mode(csharp)],
  [".kt .kts", mode(kotlin)],
  [".scala .sc", mode(scala)],
  [".dart", mode(dart)],
  [".swift", mode(swift)],
  [".hs", mode(haskell)],
  [".ml .mli", mode(oCaml)],
  [".r", mode(r)],
  [".ps1 .psm1", mode(powerShell)],
  [".proto", mode(protobuf)],
  [".ini .cfg .conf .properties .env .editorconfig .gitconfig", mode(properties)],
  [".cmake cmakelists.txt", mode(cmake)],
  [".diff .patch", mode(diff)],
];

const BY_NAME = new Map(
  LANGUAGES.flatMap(([names, make]) => names.split(" ").map((name) => [name, make] as const)),
);

export function languageOf(path: string): Extension {
  const name = path
    .slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1)
    .toLowerCase();
  const dot = name.lastIndexOf(".");
  const make = BY_NAME.get(name) ?? (dot < 0 ? undefined : BY_NAME.get(name.slice(dot)));
  return make?.() ?? [];
}
