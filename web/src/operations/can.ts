// What may be done to an operation.
import type { Operation, Session, Stage } from "../api/types";
import { type Verdict, all, hasRole, no, yes } from "../parts/can";

const RETRYABLE = new Set<Operation["state"]>(["failed", "cancelled"]);

export function canCancel(session: Session, operation: Operation): Verdict {
  return all(
    hasRole(session, "operator"),
    operation.terminal ? no("It has ended.") : yes,
    operation.cancel_requested ? no("It is being cancelled.") : yes,
  );
}

export function canRetry(session: Session, operation: Operation): Verdict {
  return all(
    hasRole(session, "operator"),
    operation.superseded_by ? no("A newer operation took its place.") : yes,
    RETRYABLE.has(operation.state) ? yes : no("Only a failed or cancelled operation can be retried."),
  );
}

export function canRetryStage(session: Session, operation: Operation, stage: Stage): Verdict {
  const failed = stage.state === "failed" || stage.state === "unproven" || stage.state === "cancelled";
  return all(canRetry(session, operation), failed ? yes : no("Only a stage that failed can be retried."));
}
