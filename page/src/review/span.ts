/** Ranges of a document that consist of whole lines. */

import type { Text } from "@codemirror/state";

/** Half open, in characters. */
export interface Span {
  from: number;
  to: number;
}

/** A range of the original and the range of the result in its place. */
export interface Pair {
  a: Span;
  b: Span;
}

/** Where a line starts, counted from 0; the end of the document after the last one. */
export function startOfLine(document: Text, line: number): number {
  return line < document.lines ? document.line(line + 1).from : document.length;
}

/** A half-open range of lines in characters. */
export function spanOfLines(document: Text, [from, to]: readonly [number, number]): Span {
  return { from: startOfLine(document, from), to: startOfLine(document, to) };
}

/** Where the line around `at` starts. */
export function lineStart(document: Text, at: number): number {
  return document.lineAt(at).from;
}

/** Where the line after the one around `at` starts. */
export function nextLineStart(document: Text, at: number): number {
  return Math.min(document.length, document.lineAt(at).to + 1);
}

export function slice(document: Text, span: Span): string {
  return document.sliceString(span.from, span.to);
}

export function isEmpty(span: Span): boolean {
  return span.from === span.to;
}
