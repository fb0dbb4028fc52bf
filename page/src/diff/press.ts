/** Buttons in the diff. Most of them are drawn anew when they are pressed, and would lose the focus. */

import type { EditorView } from "@codemirror/view";

/**
 * Has a button act. The focus stays on what has taken its place, which is the first of
 * `successors` that is there, or else on the diff, so that the keyboard goes on from there.
 */
export function onPress(
  button: HTMLElement,
  view: EditorView,
  successors: readonly string[],
  act: () => void,
): void {
  button.addEventListener("click", () => {
    const hadFocus = document.activeElement === button;
    act();
    if (!hadFocus || document.activeElement === button) return;
    const found = successors.map((css) => view.dom.querySelector<HTMLElement>(css));
    const next = found.find((one) => one !== null) ?? view.dom.closest<HTMLElement>("[tabindex]");
    next?.focus({ preventScroll: true });
  });
}
