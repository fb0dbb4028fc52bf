/** Keyboard shortcuts. They work wherever the focus is, except in fields that take text. */

import type { App } from "./state/app";

export const SHORTCUTS: readonly [keys: string, meaning: string][] = [
  ["j  k", "next and previous hunk, and on to the next proposal"],
  ["n  p", "next and previous proposal"],
  ["space", "drop the hunk, or keep it again"],
  ["e", "edit the result"],
  ["Escape", "leave the editor"],
  ["a", "accept the result as it is shown"],
  ["r", "reject the proposal"],
  ["v", "side by side, or one column"],
  ["1  2  3", "review, what agents see, or chat"],
  ["?", "this help"],
];

/** Holding one of these keys down does not repeat it. */
const ONCE = new Set(["a", "r", "e", "v", " "]);

export function listenToShortcuts(app: App): void {
  const { reviews } = app;
  const { open } = reviews;
  const commands: Record<string, () => void> = {
    j: () => reviews.goHunk(1),
    k: () => reviews.goHunk(-1),
    n: () => reviews.go(1),
    p: () => reviews.go(-1),
    " ": () => open.toggleHunk(),
    e: () => open.edit(true),
    a: () => void reviews.accept(),
    r: () => void reviews.reject(),
    v: () => open.setLayout(open.layout.value === "split" ? "unified" : "split"),
  };

  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (takesText(event.target) || document.querySelector("dialog:modal") !== null) return;
    if (event.key === "?") app.help.value = true;
    else if (event.key === "1") app.view.value = "review";
    else if (event.key === "2") app.view.value = "live";
    else if (event.key === "3") app.view.value = "chat";
    else {
      const command = commands[event.key];
      if (command === undefined || app.view.value !== "review") return;
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

function isPressable(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches("button, a, summary");
}
