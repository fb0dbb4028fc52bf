/** Keyboard shortcuts. They work wherever the focus is, except in fields that take text. */

import type { App } from "./state/app";
import type { View } from "./state/navigation";
import { isNarrow } from "./state/screen";

export const SHORTCUTS: readonly [keys: string, meaning: string][] = [
  ["j  k", "next and previous hunk, and on to the next proposal"],
  ["n  p", "next and previous proposal"],
  ["space", "drop the hunk, or keep it again"],
  ["u", "undo the last change"],
  ["e", "edit the result"],
  ["Escape", "leave the editor"],
  ["a", "accept the result as it is shown"],
  ["r", "reject the proposal"],
  ["Ctrl+Enter", "accept while you edit"],
  ["c", "next conflict"],
  ["v", "side by side, or one column"],
  ["q  w  t", "the queue of proposals, what agents see, or talk"],
  ["?", "this help"],
];

/** Not digits: those answer what an agent asks. */
const VIEWS: Record<string, View> = { q: "review", w: "live", t: "chat" };

/** Holding one of these keys down does not repeat it. */
const ONCE = new Set(["a", "r", "e", "v", " "]);

export function listenToShortcuts(app: App): void {
  const { reviews, navigation } = app;
  const { open } = reviews;
  // On a phone the queue takes the place of the proposal.
  const isShown = () =>
    navigation.view.value === "review" && !(isNarrow.value && navigation.pane.value === "queue");
  // All of them are about the proposal that is shown.
  const commands: Record<string, () => void> = {
    j: () => reviews.goHunk(1),
    k: () => reviews.goHunk(-1),
    n: () => reviews.go(1),
    p: () => reviews.go(-1),
    " ": () => open.toggleHunk(),
    e: () => open.edit(true),
    a: () => void reviews.accept(),
    r: () => void reviews.reject(),
    c: () => open.goConflict(),
    u: () => open.undo(),
    v: () => open.setLayout(open.layout.value === "split" ? "unified" : "split"),
  };

  document.addEventListener("keydown", (event) => {
    // Enter, held down on a button, would press it again and again.
    if (event.repeat && decides(event.target)) event.preventDefault();
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (takesText(event.target) || document.querySelector("dialog:modal") !== null) return;
    if (event.key === "?") app.help.value = true;
    else if (Object.hasOwn(VIEWS, event.key)) {
      const view = VIEWS[event.key] as View;
      navigation.go(view === "review" && isNarrow.value ? { view, pane: "queue" } : { view });
    } else {
      const command = commands[event.key];
      if (command === undefined || !isShown()) return;
      if (event.key === " " && isPressable(event.target)) return;
      if (event.repeat && ONCE.has(event.key)) return;
      command();
    }
    event.preventDefault();
  });

  // A clicked button loses the focus, so that space toggles the hunk again and not the button.
  document.addEventListener("click", (event) => {
    const { activeElement } = document;
    if (event.detail > 0 && activeElement instanceof HTMLElement && isPressable(activeElement)) {
      activeElement.blur();
    }
  });
}

function takesText(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.matches("input, textarea, select"))
  );
}

/** Whether it is a button that decides something. */
function decides(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches("[data-decides]");
}

function isPressable(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches("button, a, summary");
}
