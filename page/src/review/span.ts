/** Ranges of a document that consist of whole lines. */

import type { Text } from "@codemirror/state";

/** A range of characters; the end is exclusive. */
export interface Span {
  from: number;
  to: number;
}

/** A range of document `a`, mostly the original, and the range of document `b` that corresponds to it. */
export interface Pair {
  a: Span;
  b: Span;
}

/** Where a line starts, counted from 0; the end of the document after the last one. */
export function startOfLine(document: Text, line: number): number {
  return line < document.lines ? document.line(line + 1).from : document.length;
}

/** The characters of the lines `start` to `end`, counted from 0; the end is exclusive. */
export function spanOfLines(document: Text, start: number, end: number): Span {
  return { from: startOfLine(document, start), to: startOfLine(document, end) };
}

/** Where the line that contains `at` starts. */
export function lineStart(document: Text, at: number): number {
  return document.lineAt(at).from;
}

/** Where the line after the one that contains `at` starts. */
export function nextLineStart(document: Text, at: number): number {
  return Math.min(document.length, document.lineAt(at).to + 1);
}

export function slice(document: Text, span: Span): string {
  return document.sliceString(span.from, span.to);
}

export function isEmpty(span: Span): boolean {
  return span.from === span.to;
}
