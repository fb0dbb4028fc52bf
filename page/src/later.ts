/** The larger part of the page, which is fetched when the rest is there, or when it is needed. */

import { signal } from "@preact/signals";
import { Problem } from "./api/client";

type Editor = typeof import("./editor");

/** What was fetched, or that it could not be. */
export const editor = signal<Editor | "failed" | undefined>(undefined);

export async function fetchEditor(): Promise<Editor> {
  const known = editor.peek();
  if (typeof known === "object") return known;
  try {
    const fetched = await import("./editor");
    editor.value = fetched;
    return fetched;
  } catch {
    editor.value = "failed";
    throw new Problem(0, "incomplete", "A part of this page could not be fetched. Reload it.");
  }
}
