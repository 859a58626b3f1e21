// @vitest-environment jsdom
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { MemoryRouter } from "react-router";
import { afterEach, expect, it, vi } from "vitest";
import type { Operation, Session, Stage } from "../api/types";
import { SessionContext } from "../ui/session-context";
import { Stages } from "./Stages";

afterEach(cleanup);

const stage = (name: string, more: Partial<Stage>): Stage => ({
  name,
  step: "hyperpod",
  title: `Title of ${name}`,
  needs: [],
  state: "pending",
  attempts: 1,
  typical_seconds: 60,
  started_at: null,
  ended_at: null,
  message: null,
  attention: null,
  problem: null,
  outputs: {},
  retry_needs_consent: [],
  history: [],
  ...more,
});

const problem: Stage["problem"] = {
  type: "/docs/problems#insufficient_capacity",
  title: "No capacity",
  status: 409,
  code: "insufficient_capacity",
  detail: "None for <img src=x onerror=alert(1)>",
  remedy: "Wait, then retry.",
  errors: [],
  aws: { service: "sagemaker", operation: "DescribeCluster", code: "Short", message: "m", request_id: "r-1" },
  data: {},
};

function show(role: Session["role"], onRetry = vi.fn()) {
  const stages = [stage("a", { state: "failed", problem }), stage("b", { needs: ["a"] })];
  const operation = { id: "op-1", state: "failed", terminal: true, stages } as unknown as Operation;
  render(
    <MemoryRouter>
      <SessionContext.Provider value={{ role } as Session}>
        <Stages operation={operation} onRetry={onRetry} retrying={null} />
      </SessionContext.Provider>
    </MemoryRouter>,
  );
  return onRetry;
}

it("says under the failed stage what is wrong, what to do, and AWS's request id; as text", () => {
  show("operator");
  expect(screen.getByText("None for <img src=x onerror=alert(1)>")).toBeTruthy();
  expect(screen.getByText("Wait, then retry.")).toBeTruthy();
  expect(screen.getByText("r-1")).toBeTruthy();
  expect(document.querySelector("img")).toBeNull();
  expect(screen.getByText("1 later stage waits for it. What succeeded stays as it is.")).toBeTruthy();
  expect(screen.getByText("Waits for: Title of a")).toBeTruthy();
});

it("retries that one stage", async () => {
  const onRetry = show("operator");
  await userEvent.click(screen.getByRole("button", { name: "Retry this stage: Title of a" }));
  expect(onRetry).toHaveBeenCalledWith(expect.objectContaining({ name: "a" }));
});

it("keeps the retry in sight of a viewer, disabled", async () => {
  const onRetry = show("viewer");
  await userEvent.click(screen.getByRole("button", { name: /Retry this stage/ }));
  expect(onRetry).not.toHaveBeenCalled();
});
