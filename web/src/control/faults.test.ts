import { expect, it } from "vitest";
import { blank, faultBody } from "./faults";

it("sends only the fields that the kind knows and that were filled in", () => {
  const draft = { ...blank, service: "eks", match: "ml.p5.48xlarge", count: "2" };
  expect(faultBody(draft)).toEqual({ kind: "insufficient_capacity", match: "ml.p5.48xlarge", count: 2 });
  expect(faultBody({ ...draft, kind: "lost_answer", count: "" })).toEqual({ kind: "lost_answer", service: "eks" });
});
