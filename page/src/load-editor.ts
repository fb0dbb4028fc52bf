/** Loads the editor bundle, nine tenths of the page's code, when the rest is on the screen or needs it. */

import { signal } from "@preact/signals";
import { ApiError } from "./api/client";

export type EditorBundle = typeof import("./editor");

/** The loaded bundle, or that it could not be loaded. */
export const editorBundle = signal<EditorBundle | "failed" | undefined>(undefined);

export async function loadEditor(): Promise<EditorBundle> {
  const loaded = editorBundle.peek();
  if (typeof loaded === "object") return loaded;
  try {
    const bundle = await import("./editor");
    editorBundle.value = bundle;
    return bundle;
  } catch {
    editorBundle.value = "failed";
    throw new ApiError(
      0,
      "incomplete",
      "A part of this page could not be loaded. Reload the page.",
    );
  }
}
