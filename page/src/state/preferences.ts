/** Choices that this browser remembers between visits. The page works without them. */

export function remembered<T extends string>(name: string, choices: readonly T[], fallback: T): T {
  try {
    const stored = localStorage.getItem(`outrigger.${name}`);
    return choices.find((choice) => choice === stored) ?? fallback;
  } catch {
    return fallback;
  }
}

export function remember(name: string, choice: string): void {
  try {
    localStorage.setItem(`outrigger.${name}`, choice);
  } catch {
    // Storage may be full or forbidden; the choice then lasts until the page is reloaded.
  }
}
