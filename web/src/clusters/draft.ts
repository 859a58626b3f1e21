// What the create form holds, and the request body that it makes: only the fields that were filled in. Pure.
import shapes from "../api/shapes.json";
import type { ClusterCreate } from "../api/types";
import { type Shape, misfit } from "../parts/shape";

export interface Draft {
  tag: string;
  availability_zone: string;
  instance_type: string;
  instance_count: string;
  capacity_type: string;
  training_plan: string;
  interface_mode: string;
  kubernetes_version: string;
  network: "new" | "existing";
  cidr: string;
  vpc_id: string;
  bucket: string;
  deep_health_checks: string[];
}

export const emptyDraft: Draft = {
  tag: "",
  availability_zone: "",
  instance_type: "",
  instance_count: "1",
  capacity_type: "on_demand",
  training_plan: "",
  interface_mode: "",
  kubernetes_version: "",
  network: "new",
  cidr: "",
  vpc_id: "",
  bucket: "",
  deep_health_checks: [],
};

/** Fields of the form by their pointers in the body; errors are shown under these. */
export const FIELDS = [
  "/tag",
  "/availability_zone",
  "/instance_type",
  "/instance_count",
  "/capacity_type",
  "/training_plan",
  "/interface_mode",
  "/kubernetes_version",
  "/network",
  "/network/cidr",
  "/network/vpc_id",
  "/bucket",
  "/deep_health_checks",
] as const;

const NAMES: Partial<Record<string, string>> = {
  "/tag": "a tag",
  "/availability_zone": "a zone",
  "/instance_type": "an instance type",
  "/instance_count": "how many instances",
  "/capacity_type": "a capacity type",
};

export const filled = (draft: Draft, pointer: string): boolean => {
  if (pointer.startsWith("/network")) return draft.network === "existing" ? draft.vpc_id !== "" : draft.cidr !== "";
  const value = draft[pointer.slice(1) as keyof Draft];
  return Array.isArray(value) ? value.length > 0 : Boolean(value);
};

/** What every creation needs and this draft does not have yet, in words. */
export const stillNeeded = (draft: Draft): string[] => {
  const needed = Object.entries(NAMES).filter(([pointer]) => !filled(draft, pointer));
  const plan = draft.capacity_type === "training_plan" && !draft.training_plan ? ["a training plan"] : [];
  return [...needed.map(([, name]) => name!), ...plan];
};

/** Fields whose text cannot be right, by pointer: shape only, out of the OpenAPI document. */
export function misfits(draft: Draft): Record<string, string> {
  const known: Record<string, Shape> = shapes.ClusterCreate;
  const found = Object.entries(draft).map(([name, value]) => [
    `/${name}`,
    typeof value === "string" && filled(draft, `/${name}`) ? misfit(known[name], value) : null,
  ]);
  return Object.fromEntries(found.filter(([, text]) => text !== null)) as Record<string, string>;
}

const network = (draft: Draft): ClusterCreate["network"] | undefined => {
  if (draft.network === "existing") return draft.vpc_id ? { vpc_id: draft.vpc_id } : undefined;
  return draft.cidr ? { cidr: draft.cidr } : undefined;
};

/** A whole number as a number; anything else as it was typed, for the service to refuse. */
const count = (text: string): unknown => (/^-?\d+$/.test(text.trim()) ? Number(text) : text || undefined);

export function body(draft: Draft): ClusterCreate {
  const all = {
    tag: draft.tag,
    availability_zone: draft.availability_zone,
    instance_type: draft.instance_type,
    instance_count: count(draft.instance_count),
    capacity_type: draft.capacity_type,
    training_plan: draft.capacity_type === "training_plan" ? draft.training_plan : "",
    interface_mode: draft.interface_mode,
    kubernetes_version: draft.kubernetes_version,
    network: network(draft),
    bucket: draft.bucket,
    deep_health_checks: draft.deep_health_checks.length ? draft.deep_health_checks : undefined,
  };
  return Object.fromEntries(Object.entries(all).filter(([, v]) => v !== "" && v !== undefined)) as ClusterCreate;
}

const KEY = "instantstart.create";

export function keptDraft(): Draft {
  try {
    return { ...emptyDraft, ...(JSON.parse(sessionStorage.getItem(KEY) ?? "{}") as Partial<Draft>) };
  } catch {
    return emptyDraft;
  }
}

export function keepDraft(draft: Draft | null): void {
  try {
    if (draft) sessionStorage.setItem(KEY, JSON.stringify(draft));
    else sessionStorage.removeItem(KEY);
  } catch {
    // A browser that keeps nothing loses the draft on reload, nothing else.
  }
}
