/** Which links may be opened from the page. */

const PROTOCOLS = new Set(["http:", "https:", "mailto:"]);

/** The full address, with the host name in the form that the browser resolves; undefined if it may not be opened. */
export function safeLinkTarget(target: string): string | undefined {
  if (!URL.canParse(target)) return undefined;
  const url = new URL(target);
  return PROTOCOLS.has(url.protocol) ? url.href : undefined;
}
