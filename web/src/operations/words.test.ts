import { describe, expect, it } from "vitest";
import type { Operation, OperationSummary, Session, Stage, StageState } from "../api/types";
import { bell } from "./bell";
import { canCancel, canRetry, canRetryStage } from "./can";
import { bySteps, dependants, progressWords } from "./words";

const stage = (name: string, step: string, state: StageState, needs: string[] = []) =>
  ({ name, step, state, needs, title: name }) as unknown as Stage;

const summary = (id: string, state: string, more: object = {}) =>
  ({
    id,
    state,
    cluster: id,
    title: `Create ${id}`,
    terminal: ["succeeded", "failed", "cancelled"].includes(state),
    attention: [],
    progress: { done: 3, total: 9, percent: 30, remaining_seconds: 600, step: "eks" },
    ...more,
  }) as unknown as OperationSummary;

const session = (role: Session["role"]) => ({ role }) as Session;

describe("steps", () => {
  it("show the loudest state of their stages, in order of appearance", () => {
    const steps = bySteps([
      stage("a", "eks", "succeeded"),
      stage("b", "eks", "unchanged"),
      stage("c", "hyperpod", "failed"),
      stage("d", "hyperpod", "running"),
      stage("e", "storage", "succeeded"),
      stage("f", "storage", "pending"),
    ]);
    expect(steps.map((s) => [s.name, s.state, s.done])).toEqual([
      ["eks", "succeeded", 2],
      ["hyperpod", "failed", 0],
      ["storage", "pending", 1],
    ]);
  });

  it("say which stages wait for a failed one, directly or not", () => {
    const stages = [
      stage("a", "x", "failed"),
      stage("b", "x", "pending", ["a"]),
      stage("c", "x", "pending", ["b"]),
      stage("d", "x", "running"),
    ];
    expect(dependants(stages, "a")).toEqual(["b", "c"]);
  });

  it("come with the time that is typically left, while something runs", () => {
    expect(progressWords(summary("a", "running"))).toBe(
      "3 of 9 stages · EKS control plane · about 10 min left, typically",
    );
    expect(progressWords(summary("a", "failed"))).toBe("3 of 9 stages · EKS control plane");
  });
});

describe("the bell", () => {
  it("counts what runs and what needs somebody, each once", () => {
    const { running, attention, items } = bell([
      summary("a", "running"),
      summary("b", "running", { attention: ["Short of capacity"] }),
      summary("c", "failed"),
      summary("d", "succeeded"),
    ]);
    expect([running, attention]).toEqual([1, 2]);
    expect(items.map((i) => i.id)).toEqual(["attention", "running", "all"]);
  });

  it("leaves a failure alone that a newer operation of the cluster has overtaken", () => {
    const { attention } = bell([
      summary("new", "succeeded", { cluster: "x" }),
      summary("old", "failed", { cluster: "x" }),
    ]);
    expect(attention).toBe(0);
  });
});

describe("what may be done", () => {
  const failed = { state: "failed", terminal: true, superseded_by: null } as unknown as Operation;
  const running = { state: "running", terminal: false } as unknown as Operation;

  it("depends on the role, with the reason", () => {
    expect(canCancel(session("viewer"), running)).toEqual({
      allowed: false,
      reason: "This needs the role operator; you have viewer. Ask an admin.",
    });
    expect(canCancel(session("operator"), running).allowed).toBe(true);
  });

  it("depends on the operation", () => {
    expect(canCancel(session("admin"), failed).allowed).toBe(false);
    expect(canRetry(session("admin"), failed).allowed).toBe(true);
    expect(canRetry(session("admin"), running).allowed).toBe(false);
    expect(canRetry(session("admin"), { ...failed, superseded_by: "op-2" }).allowed).toBe(false);
  });

  it("depends on the stage", () => {
    expect(canRetryStage(session("admin"), failed, stage("a", "x", "failed")).allowed).toBe(true);
    expect(canRetryStage(session("admin"), failed, stage("a", "x", "succeeded")).allowed).toBe(false);
  });
});
