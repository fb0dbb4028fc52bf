/** Numbers, sizes and times in words. */

export function count(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}

export function size(bytes: number): string {
  if (bytes < 1_000) return count(bytes, "byte");
  if (bytes < 1_000_000) return `${(bytes / 1_000).toFixed(bytes < 10_000 ? 1 : 0)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

export function time(at: number): string {
  return new Date(at).toLocaleTimeString("en-GB");
}

/** How long ago, roughly. A time in the future, from a clock that is off, counts as now. */
export function ago(at: number, now: number): string {
  const seconds = Math.max(0, Math.round((now - at) / 1_000));
  if (seconds < 60) return "just now";
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ago`;
  const hours = Math.floor(minutes / 60);
  return hours < 24 ? `${hours} h ago` : `${count(Math.floor(hours / 24), "day")} ago`;
}
