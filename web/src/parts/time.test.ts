import { describe, expect, it } from "vitest";
import { absolute, duration, lasted, paceWords, relative, roughly } from "./time";

describe("durations", () => {
  it.each([
    [0, "0 s"],
    [0.4, "0 s"],
    [59, "59 s"],
    [60, "1 min"],
    [588, "9 min 48 s"],
    [3600, "1 h"],
    [3660, "1 h 1 min"],
    [90_000, "1 d 1 h"],
    [-5, "0 s"],
  ])("%s s is %s", (seconds, words) => expect(duration(seconds)).toBe(words));

  it.each([
    [20, "less than a minute"],
    [600, "about 10 min"],
    [9000, "about 2.5 h"],
  ])("roughly %s s is %s", (seconds, words) => expect(roughly(seconds)).toBe(words));

  it("last until now while they have not ended, and are unknown before they begin", () => {
    const from = "2026-12-01T10:00:00Z";
    expect(lasted(from, null, Date.parse(from) + 5000)).toBe(5);
    expect(lasted(from, "2026-12-01T10:01:00Z", 0)).toBe(60);
    expect(lasted(null, null, 0)).toBeNull();
  });
});

describe("times", () => {
  const then = Date.parse("2026-12-01T10:00:00Z");
  it("are relative both ways", () => {
    expect(relative(then, then + 180_000)).toBe("3 min ago");
    expect(relative(then, then - 7_200_000)).toBe("in 2 h");
    expect(relative(then, then + 1000)).toBe("just now");
  });
  it("carry the day only when it is another one", () => {
    expect(absolute(then, then + 1000)).toMatch(/^\d\d:\d\d:\d\d$/);
    expect(absolute(then, then + 3 * 86_400_000)).toMatch(/Dec, \d\d:\d\d:\d\d$/);
  });
  it("run at a pace that is said only when it is not the wall's", () => {
    expect([0, 1.02, 2.1, 60.7, 298].map(paceWords)).toEqual(["stands still", "", "× 2", "× 60", "× 300"]);
  });
});
