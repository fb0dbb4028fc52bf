/** Everything by key. Keys work whatever has the focus, but not while the person types. */

import type { App } from "./state/app";

export const KEYS: readonly [keys: string, meaning: string][] = [
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

/** Decisions are not repeated by a key that is held down. */
const ONCE = new Set(["a", "r", "e", "v", " "]);

export function listenToKeys(app: App): void {
  const { table } = app;
  const commands: Record<string, () => void> = {
    j: () => table.goHunk(1),
    k: () => table.goHunk(-1),
    n: () => table.go(1),
    p: () => table.go(-1),
    " ": () => table.toggleHunk(),
    e: () => table.edit(true),
    a: () => void table.accept(),
    r: () => void table.reject(),
    v: () => table.setLayout(table.layout.value === "split" ? "unified" : "split"),
  };

  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (isTyping(event.target) || document.querySelector("dialog:modal") !== null) return;
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

  // A button that was clicked gives the focus back, so that space means the hunk again.
  document.addEventListener("click", (event) => {
    const { activeElement } = document;
    if (event.detail > 0 && activeElement instanceof HTMLElement && isPressable(activeElement)) {
      activeElement.blur();
    }
  });
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.matches("input, textarea, select"))
  );
}

function isPressable(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches("button, a, summary");
}
