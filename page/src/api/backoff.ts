/** How long to wait before the next attempt to connect, in milliseconds. */

const FIRST = 400;
const LONGEST = 10_000;

/**
 * Doubles with every failure. `random`, between 0 and 1, decides on the second half, so
 * that the tabs of a browser do not all reconnect at the same moment.
 */
export function delay(failures: number, random: number): number {
  const whole = Math.min(LONGEST, FIRST * 2 ** Math.min(failures, 10));
  return whole / 2 + (whole / 2) * random;
}
