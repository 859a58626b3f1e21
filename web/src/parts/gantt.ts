// Lays stages out on a time line. Pure; the drawing is Gantt.tsx.
import type { Stage } from "../api/types";

export interface Bar {
  stage: Stage;
  /** Percent of the line's width. Null when it has not begun. */
  left: number | null;
  width: number;
  /** Seconds so far. */
  seconds: number | null;
  critical: boolean;
}

export interface Layout {
  bars: Bar[];
  /** Product milliseconds at both ends of the line. */
  from: number;
  until: number;
  ticks: { left: number; seconds: number }[];
}

const NICE = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 28_800, 86_400];
const NARROWEST = 0.6;

const end = (stage: Stage, now: number): number =>
  stage.ended_at ? Date.parse(stage.ended_at) : Math.max(now, Date.parse(stage.started_at!));

/** The stages whose end decided when the whole was over: from the last to end, back along `needs`. */
export function criticalPath(stages: readonly Stage[], now: number): Set<string> {
  const begun = new Map(stages.filter((s) => s.started_at).map((s) => [s.name, s]));
  const latest = (names: Iterable<string>): Stage | undefined => {
    let found: Stage | undefined;
    for (const name of names) {
      const stage = begun.get(name);
      if (stage && (!found || end(stage, now) > end(found, now))) found = stage;
    }
    return found;
  };
  const path = new Set<string>();
  let at = latest(begun.keys());
  while (at && !path.has(at.name)) {
    path.add(at.name);
    at = latest(at.needs);
  }
  return path;
}

export function layout(stages: readonly Stage[], now: number): Layout {
  const begun = stages.filter((s) => s.started_at);
  const from = begun.length ? Math.min(...begun.map((s) => Date.parse(s.started_at!))) : now;
  const until = Math.max(from + 1_000, ...begun.map((s) => end(s, now)));
  const span = until - from;
  const critical = criticalPath(stages, now);
  const bars = stages.map((stage): Bar => {
    if (!stage.started_at) return { stage, left: null, width: 0, seconds: null, critical: false };
    const length = end(stage, now) - Date.parse(stage.started_at);
    const width = Math.max(NARROWEST, (length / span) * 100);
    const left = Math.min(((Date.parse(stage.started_at) - from) / span) * 100, 100 - width);
    return { stage, left, width, seconds: length / 1000, critical: critical.has(stage.name) };
  });
  const step = (NICE.find((s) => span / 1000 / s <= 6) ?? NICE.at(-1)!) * 1000;
  const ticks = [];
  for (let at = 0; at <= span; at += step) ticks.push({ left: (at / span) * 100, seconds: at / 1000 });
  return { bars, from, until, ticks };
}
