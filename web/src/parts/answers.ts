// A change answers an operation, "unchanged", or a plan; which one it is shows in its fields.
import type { Operation, Plan } from "../api/types";

/** The plan of a dry run. */
export function isPlan(answer: object): Plan {
  if (!("can_start" in answer)) throw new Error("The service did not answer with a plan.");
  return answer as Plan;
}

/** The operation that was begun; null when nothing had to be changed. */
export function isOperation(answer: object): Operation | null {
  return "stages" in answer && "id" in answer ? (answer as Operation) : null;
}
