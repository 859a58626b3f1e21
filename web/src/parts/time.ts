// Words for times and durations. Pure.

const UNITS: [number, string][] = [
  [86_400, "d"],
  [3_600, "h"],
  [60, "min"],
  [1, "s"],
];

/** A duration in at most two units: "9 min 40 s", "2 h", "0 s". */
export function duration(seconds: number): string {
  let left = Math.max(0, Math.round(seconds));
  const parts: string[] = [];
  for (const [size, unit] of UNITS) {
    const count = Math.floor(left / size);
    if (count > 0 || (unit === "s" && parts.length === 0)) parts.push(`${count} ${unit}`);
    left -= count * size;
    if (parts.length === 2) break;
    if (parts.length === 1 && (size >= 3_600 ? left < 60 : left === 0)) break;
  }
  return parts.join(" ");
}

/** A rough duration for plans: "about 14 min". */
export function roughly(seconds: number): string {
  if (seconds < 60) return "less than a minute";
  if (seconds < 90 * 60) return `about ${Math.round(seconds / 60)} min`;
  const hours = seconds / 3600;
  return `about ${hours < 10 ? Math.round(hours * 2) / 2 : Math.round(hours)} h`;
}

/** "3 min ago", "in 2 h", "just now". */
export function relative(then: number, now: number): string {
  const seconds = (now - then) / 1000;
  if (Math.abs(seconds) < 3) return "just now";
  const words = duration(seconds < 0 ? -seconds : seconds)
    .split(" ")
    .slice(0, 2)
    .join(" ");
  return seconds < 0 ? `in ${words}` : `${words} ago`;
}

const sameDay = (a: Date, b: Date): boolean => a.toDateString() === b.toDateString();

/** "14:02:11" today, "1 Dec, 14:02:11" otherwise. */
export function absolute(then: number, now: number): string {
  const date = new Date(then);
  const clock = date.toLocaleTimeString("en-GB");
  if (sameDay(date, new Date(now))) return clock;
  return `${date.toLocaleDateString("en-GB", { day: "numeric", month: "short" })}, ${clock}`;
}

/** Seconds between two ISO times; up to `now` while it has not ended; null when it has not begun. */
export function lasted(from: string | null | undefined, to: string | null | undefined, now: number): number | null {
  if (!from) return null;
  return Math.max(0, ((to ? Date.parse(to) : now) - Date.parse(from)) / 1000);
}

/** How fast the product's clock runs, when it is not at the wall's pace: "× 60". Measured, so rounded. */
export function paceWords(pace: number): string {
  if (pace < 0.05) return "stands still";
  if (pace > 0.9 && pace < 1.1) return "";
  const step = pace < 10 ? 1 : pace < 100 ? 5 : 50;
  return `× ${Math.max(step, Math.round(pace / step) * step)}`;
}
