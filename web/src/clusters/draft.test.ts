// @vitest-environment jsdom
import { beforeEach, describe, expect, it } from "vitest";
import { body, emptyDraft, filled, keepDraft, keptDraft, stillNeeded } from "./draft";

beforeEach(() => sessionStorage.clear());

describe("the body of a creation", () => {
  it("has only the fields that were filled in", () => {
    expect(body({ ...emptyDraft, tag: "demo" })).toEqual({
      tag: "demo",
      instance_count: 1,
      capacity_type: "on_demand",
    });
  });

  it("sends a count that is none as it was typed, for the service to refuse", () => {
    expect(body({ ...emptyDraft, instance_count: "1.5" }).instance_count).toBe("1.5");
    expect(body({ ...emptyDraft, instance_count: "-1" }).instance_count).toBe(-1);
    expect(body({ ...emptyDraft, instance_count: "" })).not.toHaveProperty("instance_count");
  });

  it("holds one network, and a training plan only with that capacity type", () => {
    const draft = { ...emptyDraft, cidr: "10.0.0.0/16", vpc_id: "vpc-1", training_plan: "arn:x" };
    expect(body(draft)).toMatchObject({ network: { cidr: "10.0.0.0/16" } });
    expect(body(draft)).not.toHaveProperty("training_plan");
    expect(body({ ...draft, network: "existing", capacity_type: "training_plan" })).toMatchObject({
      network: { vpc_id: "vpc-1" },
      training_plan: "arn:x",
    });
  });
});

it("says what is still needed, in words", () => {
  expect(stillNeeded(emptyDraft)).toEqual(["a tag", "a zone", "an instance type"]);
  expect(filled({ ...emptyDraft, vpc_id: "vpc-1", network: "existing" }, "/network/vpc_id")).toBe(true);
});

it("survives a reload, and a store with nonsense in it", () => {
  keepDraft({ ...emptyDraft, tag: "kept" });
  expect(keptDraft().tag).toBe("kept");
  sessionStorage.setItem("instantstart.create", "{");
  expect(keptDraft()).toEqual(emptyDraft);
});
