"""Kubernetes and Helm errors as problems: what the caller does next, what the API server said."""

from __future__ import annotations

from typing import Any

from instantstart.core.problem import FieldError, ProblemError, define

KUBE_UNAVAILABLE = define(
    "kube_unavailable", 502, "The cluster's API server cannot be reached", "Try again in a moment."
)
KUBE_ANSWER_LOST = define("kube_answer_lost", 504, "The cluster's API server did not answer", "Look again first.")
KUBE_UNAUTHENTICATED = define(
    "kube_unauthenticated",
    502,
    "The cluster does not know this service",
    "See that the EKS cluster has an access entry for the service's role.",
)
KUBE_DENIED = define(
    "kube_denied",
    502,
    "The cluster denies this to the service",
    "See that the service's access entry has AmazonEKSClusterAdminPolicy.",
)
KUBE_NOT_FOUND = define("kube_not_found", 404, "The cluster does not have this")
KUBE_CONFLICT = define("kube_conflict", 409, "Something in the cluster is in the way", "Look at it, then retry.")
KUBE_REFUSED = define("kube_refused", 422, "The cluster refused the object", "Correct what the detail names.")
KUBE_BUSY = define("kube_busy", 503, "The cluster asks for fewer requests", "Nothing: it is tried again by itself.")


class KubeProblem(ProblemError):  # noqa: N818 - the product's word
    """A problem that came from a cluster's API server. `reason` is the server's own word, "" when it did not answer."""

    def __init__(self, made: ProblemError, *, status: int = 0, reason: str = "") -> None:
        super().__init__(made.problem, log=made.log, transient=made.transient, lost=made.lost)
        self.status, self.reason = status, reason

    @property
    def not_found(self) -> bool:
        """Whether the object (or its kind) is not there."""
        return self.code == KUBE_NOT_FOUND.code

    @property
    def conflict(self) -> bool:
        """Whether it exists, changed meanwhile, or another manager owns a field."""
        return self.code == KUBE_CONFLICT.code

    @property
    def forbidden(self) -> bool:
        """Whether the service lacks access: not known (401) or not allowed (403)."""
        return self.code in (KUBE_DENIED.code, KUBE_UNAUTHENTICATED.code)


def from_status(what: str, status: int, body: dict[str, Any], *, changes: bool) -> KubeProblem:
    """The problem for an error answer with its Status object. A 5xx to a changing call may have taken effect."""
    reason, message = str(body.get("reason") or ""), str(body.get("message") or f"status {status}")
    said = f"{what}: {message}"
    log = f"{what} answered {status} {reason}: {message}"
    if status == 401:
        made = KUBE_UNAUTHENTICATED(said, log=log)
    elif status == 403:
        made = KUBE_DENIED(said, log=log)
    elif status == 404:
        made = KUBE_NOT_FOUND(said, log=log)
    elif status in (409, 410):
        made = KUBE_CONFLICT(said, log=log, transient=reason == "Conflict" and "conflict with" not in message)
    elif status == 429:
        made = KUBE_BUSY(said, log=log, transient=True)
    elif status >= 500:
        made = KUBE_UNAVAILABLE(said, log=log, transient=True, lost=changes and status != 503)
    else:
        made = KUBE_REFUSED(said, errors=_causes(body), log=log)
    return KubeProblem(made, status=status, reason=reason)


def unreachable(what: str, error: Exception) -> KubeProblem:
    """No connection: nothing was sent."""
    said = f"{what}: {type(error).__name__} {error}".rstrip()
    return KubeProblem(KUBE_UNAVAILABLE(said, log=said, transient=True))


def unanswered(what: str, error: Exception, *, changes: bool) -> KubeProblem:
    """The connection broke or timed out after the request was sent."""
    said = f"{what}: {type(error).__name__} {error}".rstrip()
    if changes:
        return KubeProblem(KUBE_ANSWER_LOST(said, log=said, lost=True))
    return KubeProblem(KUBE_UNAVAILABLE(said, log=said, transient=True))


def _causes(body: dict[str, Any]) -> list[FieldError]:
    causes = (body.get("details") or {}).get("causes") or []
    return [
        FieldError(field=str(c.get("field", "")), code=str(c.get("reason", "")), message=str(c.get("message", "")))
        for c in causes
    ]
