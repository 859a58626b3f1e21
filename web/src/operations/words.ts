// Words for operations and their steps. Pure.
import type { Operation, OperationSummary, Stage, StageState } from "../api/types";
import { roughly } from "../parts/time";

const STEPS: Record<string, string> = {
  eks: "EKS control plane",
  select: "Select",
  dependencies: "Dependencies",
  hyperpod: "HyperPod cluster",
  storage: "Storage",
};

export const stepTitle = (step: string): string =>
  STEPS[step] ?? step.charAt(0).toUpperCase() + step.slice(1).replaceAll("_", " ");

const FACES: Record<Operation["face"], string> = { web: "in the browser", rest: "by REST", mcp: "through MCP" };

export const asker = (operation: Pick<Operation, "requested_by" | "face">): string =>
  `${operation.requested_by}, ${FACES[operation.face]}`;

export function progressWords(operation: Pick<OperationSummary, "progress" | "state">): string {
  const { done, total, remaining_seconds: left, step } = operation.progress;
  const parts = [`${done} of ${total} stages`];
  if (step && operation.state !== "succeeded") parts.push(stepTitle(step));
  if (left && ["running", "waiting"].includes(operation.state)) parts.push(`${roughly(left)} left, typically`);
  return parts.join(" · ");
}

export interface Step {
  name: string;
  stages: Stage[];
  state: StageState;
  done: number;
}

const DONE: readonly StageState[] = ["succeeded", "unchanged", "unproven"];
const LOUDEST: readonly StageState[] = ["failed", "running", "waiting", "cancelled", "unproven"];

/** Stages by step, in the order in which the steps first come, each with the state that matters most. */
export function bySteps(stages: readonly Stage[]): Step[] {
  const groups = new Map<string, Stage[]>();
  for (const stage of stages) groups.set(stage.step, [...(groups.get(stage.step) ?? []), stage]);
  return [...groups].map(([name, inside]) => {
    const done = inside.filter((s) => DONE.includes(s.state)).length;
    const loud = LOUDEST.find((state) => inside.some((s) => s.state === state));
    const state = loud ?? (done === inside.length ? "succeeded" : "pending");
    return { name, stages: inside, state, done };
  });
}

/** Stages that wait for this one, directly or not. */
export function dependants(stages: readonly Stage[], name: string): string[] {
  const found = new Set<string>();
  const visit = (at: string) => {
    for (const stage of stages) {
      if (stage.needs.includes(at) && !found.has(stage.name)) {
        found.add(stage.name);
        visit(stage.name);
      }
    }
  };
  visit(name);
  return stages.filter((s) => found.has(s.name)).map((s) => s.name);
}
