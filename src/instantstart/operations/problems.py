"""Problems of operations, whatever they change."""

from __future__ import annotations

from instantstart.core.problem import ProblemError, define

OPERATION_NOT_FOUND = define(
    "operation_not_found", 404, "There is no such operation", "List operations to find its id."
)
STAGE_NOT_FOUND = define("stage_not_found", 422, "The operation has no such stage", "Read the operation's stages.")
OPERATION_IN_PROGRESS = define(
    "operation_in_progress",
    409,
    "Another operation is changing this",
    "Wait for the operation named in data, or cancel it.",
)
NOT_RETRYABLE = define("not_retryable", 409, "This cannot be retried", "Read the operation's state.")
NOT_CANCELLABLE = define("not_cancellable", 409, "This has ended already", "Read the operation's state.")
CONSENT_REQUIRED = define(
    "consent_required",
    409,
    "A retry would first remove something",
    "Look at data.objects; retry with accept naming the stage when they may go.",
)
IDEMPOTENCY_KEY_REUSED = define(
    "idempotency_key_reused", 409, "This idempotency key was used for another request", "Use a new key."
)
PREFLIGHT_FAILED = define(
    "preflight_failed", 422, "This cannot work as it stands", "Follow the remedy of each finding, then send it again."
)
OUTCOME_UNKNOWN = define(
    "outcome_unknown",
    409,
    "It is not known whether the request took effect",
    "Look at the object itself; the request is never sent a second time by itself.",
)
DEADLINE_EXCEEDED = define(
    "deadline_exceeded", 504, "It took longer than allowed", "Find out what it waits for, then retry the stage."
)
STAGE_DEFINITION_CHANGED = define(
    "stage_definition_changed",
    409,
    "This release does not know the stage as it was begun",
    "Begin a new operation for the same cluster: what stands is kept.",
)
STAGE_BROKE = define("stage_broke", 500, "A stage stopped on an unexpected error", "Retry it; the log has the details.")
LEASE_LOST = define("lease_lost", 409, "Another process carries this operation on")
ANSWER_LOST = define("answer_lost", 504, "No answer came", "Nothing to do: it is looked at again by itself.")


class LostAnswerError(ProblemError):
    """A changing call whose answer did not come; `timeout` is how long it may still take effect, in seconds."""

    def __init__(self, call: str, timeout: float) -> None:
        super().__init__(
            ANSWER_LOST(
                f"No answer came to {call}. Waiting until it can no longer take effect, then looking again."
            ).problem,
            lost=True,
        )
        self.timeout = timeout
