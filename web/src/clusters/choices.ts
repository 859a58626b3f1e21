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

type InstanceType = CapacityReport["instance_types"][number];

const facts = (t: InstanceType): string =>
  [
    t.gpus ? `${t.gpus} × ${t.gpu_name ?? "GPU"}` : "no GPU",
    `${t.vcpus} vCPU`,
    `${t.memory_gib} GiB`,
    t.efa ? (t.efa > 1 ? `${t.efa} EFA` : "EFA") : "",
  ]
    .filter(Boolean)
    .join(" · ");

function cell(report: CapacityReport, type: InstanceType, zone: string, capacity: string, plan: string): Cell {
  const offer = type.offers.find((o) => o.zone === zone);
  if (!offer?.offered) return { zone, open: false, text: offer?.reason ?? "not offered here" };
  if (capacity === "training_plan") {
    const fits = report.training_plans.filter(
      (p) => (!plan || p.arn === plan) && p.instance_type === type.name && p.zones.includes(zone),
    );
    const left = Math.max(0, ...fits.map((p) => p.available));
    return fits.length
      ? { zone, open: left > 0, text: `${left} in the plan` }
      : { zone, open: false, text: "no plan here" };
  }
  const quota = capacity === "spot" ? type.spot : type.on_demand;
  if (quota.quota === 0) return { zone, open: false, text: "quota is 0" };
  if (quota.available <= 0) return { zone, open: false, text: `quota ${quota.used} of ${quota.quota} used` };
  return { zone, open: true, text: `up to ${quota.available}` };
}

export function rows(report: CapacityReport, capacity: string, plan: string, filter: string): Row[] {
  const wanted = filter.trim().toLowerCase();
  const all = report.instance_types
    .filter((t) => !wanted || `${t.name} ${t.gpu_name ?? ""}`.toLowerCase().includes(wanted))
    .map((t) => ({
      type: t.name,
      facts: facts(t),
      efa: t.efa > 0,
      gpu: t.gpus > 0,
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
  const some = (kind: "on_demand" | "spot") => report.instance_types.some((t) => t[kind].available > 0);
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
