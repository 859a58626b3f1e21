import { describe, expect, it } from "vitest";
import { FollowedClock } from "./clock";

const START = Date.parse("2026-12-01T10:00:00Z");

function followed() {
  let wall = 0;
  const clock = new FollowedClock(() => wall);
  return {
    clock,
    pass: (ms: number) => (wall += ms),
    hear: (product: number) => clock.heard(new Date(START + product).toISOString()),
    shown: () => clock.now() - START,
  };
}

describe("the product's clock", () => {
  it("is the wall's pace from the first answer on", () => {
    const { hear, pass, shown } = followed();
    hear(0);
    pass(2000);
    expect(shown()).toBe(2000);
  });

  it("finds out that time runs 60 times faster", () => {
    const { clock, hear, pass, shown } = followed();
    hear(0);
    pass(500);
    hear(30_000);
    expect(clock.pace).toBe(60);
    pass(1000);
    expect(shown()).toBe(90_000);
  });

  it("stands still when the product's does", () => {
    const { clock, hear, pass, shown } = followed();
    hear(0);
    pass(600);
    hear(0);
    expect(clock.pace).toBe(0);
    pass(60_000);
    expect(shown()).toBe(0);
  });

  it("learns a new speed from two readings", () => {
    const { clock, hear, pass } = followed();
    hear(0);
    pass(1000);
    hear(60_000);
    pass(1000);
    hear(360_000);
    pass(1000);
    hear(660_000);
    expect(clock.pace).toBe(300);
  });

  it("does not take a step forward for speed", () => {
    const { clock, hear, pass, shown } = followed();
    hear(0);
    pass(1000);
    hear(1000);
    pass(1000);
    hear(602_000);
    expect(clock.pace).toBe(1);
    pass(1000);
    expect(shown()).toBe(603_000);
  });

  it("passes over answers without the header", () => {
    const { clock, hear, shown } = followed();
    hear(5000);
    clock.heard(null);
    clock.heard("not a time");
    expect(shown()).toBe(5000);
  });
});
