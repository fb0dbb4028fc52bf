/** What this browser remembers between visits. Nothing of it matters if it cannot. */

export function remembered<T extends string>(name: string, choices: readonly T[], otherwise: T): T {
  try {
    const kept = localStorage.getItem(`outrigger.${name}`);
    return choices.find((choice) => choice === kept) ?? otherwise;
  } catch {
    return otherwise;
  }
}

export function remember(name: string, choice: string): void {
  try {
    localStorage.setItem(`outrigger.${name}`, choice);
  } catch {
    // A browser that keeps nothing asks again next time.
  }
}
