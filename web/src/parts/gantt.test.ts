import { describe, expect, it } from "vitest";
import type { Stage } from "../api/types";
import { criticalPath, layout } from "./gantt";

const T = Date.parse("2026-12-01T10:00:00Z");
const at = (seconds: number) => new Date(T + seconds * 1000).toISOString();

function stage(name: string, from: number | null, to: number | null, needs: string[] = []): Stage {
  return {
    name,
    step: "eks",
    title: name,
    needs,
    state: from === null ? "pending" : to === null ? "running" : "succeeded",
    attempts: 1,
    typical_seconds: 5,
    started_at: from === null ? null : at(from),
    ended_at: to === null ? null : at(to),
    message: null,
    attention: null,
    problem: null,
    outputs: {},
    retry_needs_consent: [],
    history: [],
  };
}

describe("the time line", () => {
  it("spans from the first start to the last end", () => {
    const { bars, from, until } = layout([stage("a", 0, 50), stage("b", 50, 100, ["a"])], T + 500_000);
    expect([from, until]).toEqual([T, T + 100_000]);
    expect(bars.map((b) => [b.left, b.width, b.seconds])).toEqual([
      [0, 50, 50],
      [50, 50, 50],
    ]);
  });

  it("lets a running stage grow with the clock", () => {
    const [bar] = layout([stage("a", 0, null)], T + 30_000).bars;
    expect([bar!.left, bar!.width, bar!.seconds]).toEqual([0, 100, 30]);
  });

  it("draws no bar for what has not begun, and keeps short ones visible and inside", () => {
    const { bars } = layout([stage("a", 0, 1000), stage("b", 1000, 1000, ["a"]), stage("c", null, null, ["b"])], T);
    expect(bars[1]!.width).toBeGreaterThan(0);
    expect(bars[1]!.left! + bars[1]!.width).toBeLessThanOrEqual(100);
    expect(bars[2]).toMatchObject({ left: null, seconds: null, critical: false });
  });

  it("survives an operation in which nothing has begun, and a clock that is behind", () => {
    expect(layout([], T)).toMatchObject({ bars: [], from: T, until: T + 1000 });
    expect(layout([stage("a", 10, null)], T).bars[0]!.seconds).toBe(0);
  });

  it("marks at most seven times, at round distances", () => {
    const { ticks } = layout([stage("a", 0, 1500)], T);
    expect(ticks.map((t) => t.seconds)).toEqual([0, 300, 600, 900, 1200, 1500]);
  });
});

describe("the critical path", () => {
  it("goes back along needs from the last to end, by the latest of them", () => {
    const stages = [
      stage("a", 0, 10),
      stage("slow", 10, 90, ["a"]),
      stage("quick", 10, 20, ["a"]),
      stage("end", 90, 95, ["slow", "quick"]),
    ];
    expect([...criticalPath(stages, T)].sort()).toEqual(["a", "end", "slow"]);
  });
});
