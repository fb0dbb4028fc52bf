/** How long to wait before the next attempt to connect. */

const FIRST = 400;
const LONGEST = 10_000;

/**
 * Doubles with every failure. The second half of the time is left to chance, so
 * that the tabs of a person do not all knock at the same moment.
 */
export function delay(failures: number, chance: number): number {
  const whole = Math.min(LONGEST, FIRST * 2 ** Math.min(failures, 10));
  return whole / 2 + (whole / 2) * chance;
}
