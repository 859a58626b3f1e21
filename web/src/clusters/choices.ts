// What can be chosen, out of what the service found in this account and region. Pure; the rules are the service's.
import type { CapacityReport } from "../api/types";

export interface Cell {
  zone: string;
  open: boolean;
  text: string;
}

export interface Row {
  type: string;
  facts: string;
  efa: boolean;
  gpu: boolean;
  cells: Cell[];
}

type InstanceType = CapacityReport["items"][number];

const facts = (t: InstanceType): string =>
  [
    t.accelerator_count ? `${t.accelerator_count} × ${t.accelerator ?? "GPU"}` : "no GPU",
    `${t.vcpus} vCPU`,
    `${t.memory_gib} GiB`,
    t.efa_interfaces ? (t.efa_interfaces > 1 ? `${t.efa_interfaces} EFA` : "EFA") : "",
  ]
    .filter(Boolean)
    .join(" · ");

/** Instances that the quota leaves; what Spot instances are in use is not known. Null: no quota is known. */
function left(type: InstanceType, capacity: string): number | null {
  const quota = capacity === "spot" ? type.spot_quota : type.quota;
  return quota === null || capacity === "spot" ? quota : Math.max(0, quota - type.in_use);
}

function cell(report: CapacityReport, type: InstanceType, zone: string, capacity: string, plan: string): Cell {
  if (!type.zones.includes(zone)) return { zone, open: false, text: "not offered here" };
  if (capacity === "training_plan") {
    const fits = report.training_plans.filter(
      (p) => (!plan || p.arn === plan) && p.instance_type === type.instance_type && p.zones.includes(zone),
    );
    const free = Math.max(0, ...fits.map((p) => p.available));
    return fits.length
      ? { zone, open: free > 0, text: `${free} in the plan` }
      : { zone, open: false, text: "no plan here" };
  }
  const free = left(type, capacity);
  if (free === null) return { zone, open: true, text: "quota not known" };
  return { zone, open: free > 0, text: free > 0 ? `up to ${free}` : "no quota left" };
}

export function rows(report: CapacityReport, capacity: string, plan: string, filter: string): Row[] {
  const wanted = filter.trim().toLowerCase();
  const all = report.items
    .filter((t) => !wanted || `${t.instance_type} ${t.accelerator ?? ""}`.toLowerCase().includes(wanted))
    .map((t) => ({
      type: t.instance_type,
      facts: facts(t),
      efa: t.efa_interfaces > 0,
      gpu: t.accelerator_count > 0,
      cells: report.zones.map((z) => cell(report, t, z.name, capacity, plan)),
    }));
  const open = (row: Row) => (row.cells.some((c) => c.open) ? 0 : 1);
  return all.sort((a, b) => open(a) - open(b) || a.type.localeCompare(b.type));
}

export interface Tile {
  value: string;
  label: string;
  description: string;
  disabled: boolean;
}

export function tiles(report: CapacityReport): Tile[] {
  const some = (kind: "on_demand" | "spot") => report.items.some((t) => left(t, kind) !== 0);
  const plans = report.training_plans.filter((p) => p.available > 0).length;
  return [
    {
      value: "on_demand",
      label: "On-Demand",
      description: some("on_demand")
        ? "Yours until you give it back"
        : "No quota is left for any type: ask for more first",
      disabled: !some("on_demand"),
    },
    {
      value: "spot",
      label: "Spot",
      description: some("spot")
        ? "Cheaper, taken back with 2 minutes' notice"
        : "No Spot quota for any type: ask for more first",
      disabled: !some("spot"),
    },
    {
      value: "training_plan",
      label: "Training plan",
      description: plans ? `${plans} with free instances` : "No plan with free instances in this region",
      disabled: plans === 0,
    },
  ];
}
