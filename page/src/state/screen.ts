/** Whether the screen is as narrow as a phone; the style sheets use the same width. */

import { signal } from "@preact/signals";

const narrow = matchMedia("(width < 720px)");

export const isNarrow = signal(narrow.matches);

narrow.addEventListener("change", () => {
  isNarrow.value = narrow.matches;
});
