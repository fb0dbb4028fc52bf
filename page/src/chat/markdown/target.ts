/** Where a link leads, if it is a kind of place that may be opened from here. */

const OPENED = new Set(["http:", "https:", "mailto:"]);

/** The whole address, with the name of the host as the browser will look for it. */
export function safeTarget(target: string): string | undefined {
  if (!URL.canParse(target)) return undefined;
  const url = new URL(target);
  return OPENED.has(url.protocol) ? url.href : undefined;
}
