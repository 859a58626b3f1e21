import { describe, expect, it } from "vitest";
import type { CapacityReport } from "../api/types";
import { rows, tiles } from "./choices";

const type = (name: string, more: object = {}) => ({
  instance_type: name,
  zones: ["us-west-2a"],
  quota: 8,
  spot_quota: 0,
  in_use: 3,
  vcpus: 32,
  memory_gib: 128,
  accelerator: "A10G",
  accelerator_count: 1,
  accelerator_memory_gib: 24,
  efa_interfaces: 1,
  interface_modes: ["efa"],
  max_pods: 10,
  addresses_per_node: 11,
  training_plans: false,
  ...more,
});

const report = (...items: object[]) =>
  ({
    zones: [{ name: "us-west-2a" }, { name: "us-west-2b" }],
    items,
    training_plans: [{ arn: "p", instance_type: "ml.g5.8xlarge", zones: ["us-west-2a"], available: 2 }],
  }) as unknown as CapacityReport;

describe("rows", () => {
  it("say per zone what the quota leaves, or why nothing can be had", () => {
    const [row] = rows(report(type("ml.g5.8xlarge")), "on_demand", "", "");
    expect(row!.cells.map((c) => [c.open, c.text])).toEqual([
      [true, "up to 5"],
      [false, "not offered here"],
    ]);
    expect(rows(report(type("ml.g5.8xlarge")), "spot", "", "")[0]!.cells[0]!.text).toBe("no quota left");
    expect(rows(report(type("x", { quota: null })), "on_demand", "", "")[0]!.cells[0]!.text).toBe("quota not known");
  });

  it("count what is free in a plan, of that type and zone only", () => {
    const [other, fits] = rows(report(type("ml.g5.8xlarge"), type("ml.a")), "training_plan", "p", "")
      .sort((a, b) => a.type.localeCompare(b.type))
      .map((r) => r.cells[0]!);
    expect([fits!.text, other!.text]).toEqual(["2 in the plan", "no plan here"]);
  });

  it("show what can be had first, and filter by type or accelerator", () => {
    const all = rows(report(type("ml.a", { quota: 0 }), type("ml.b")), "on_demand", "", "");
    expect(all.map((r) => r.type)).toEqual(["ml.b", "ml.a"]);
    expect(rows(report(type("ml.a"), type("ml.b", { accelerator: "H100" })), "on_demand", "", "h100")).toHaveLength(1);
  });
});

describe("tiles", () => {
  it("disable a capacity type of which nothing is left", () => {
    expect(tiles(report(type("ml.a"))).map((t) => t.disabled)).toEqual([false, true, false]);
  });
});
