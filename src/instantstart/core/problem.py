"""Problems: the one error object of the product (RFC 9457), and the register of its kinds.

A slice defines its kinds once, at module level (`TAG_IN_USE = define("tag_in_use", 409, …)`), and raises them by
calling the kind. `docs/problems.md` is tested against the register.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, Field


class FieldError(BaseModel):
    """One bad field of a request."""

    field: str = Field(description="JSON pointer into the request body, e.g. /instance_count")
    code: str
    message: str


class AwsFault(BaseModel):
    """What AWS said, when a problem came from there."""

    service: str
    operation: str
    code: str
    message: str
    request_id: str | None = None


class Problem(BaseModel):
    """RFC 9457 problem details with what the caller needs to go on."""

    type: str
    title: str
    status: int
    code: str
    detail: str = Field(description="What is wrong this time, in a sentence or two.")
    remedy: str | None = Field(default=None, description="What the caller can do about it.")
    errors: list[FieldError] = Field(default_factory=list, description="Every bad field at once.")
    aws: AwsFault | None = None
    data: dict[str, Any] = Field(default_factory=dict, description="Facts for the caller, e.g. the first operation.")


class ProblemError(Exception):
    """A problem on its way to the caller. `log` is the second message, for the log alone.

    `transient` means that the same thing may work a little later without anybody doing anything.
    `lost` means that the request may have taken effect though no answer came.
    `consent` is what a retry must be allowed to do first (see `core.plan.Consent`).
    """

    def __init__(
        self,
        problem: Problem,
        *,
        log: str = "",
        transient: bool = False,
        lost: bool = False,
        consent: Any = None,
    ) -> None:
        super().__init__(f"{problem.code}: {problem.detail}")
        self.problem = problem
        self.log = log
        self.transient = transient
        self.lost = lost
        self.consent = consent

    @property
    def code(self) -> str:
        """The problem's code."""
        return self.problem.code


@dataclass(frozen=True)
class ProblemKind:
    """A kind of problem: fixed status, title and default remedy. Call it to make the error to raise."""

    code: str
    status: int
    title: str
    remedy: str | None = None

    def __call__(
        self,
        detail: str,
        *,
        remedy: str | None = None,
        errors: list[FieldError] | None = None,
        aws: AwsFault | None = None,
        data: dict[str, Any] | None = None,
        log: str = "",
        transient: bool = False,
        lost: bool = False,
        consent: Any = None,
    ) -> ProblemError:
        """The error to raise for this case; `detail` says what is wrong this time."""
        problem = Problem(
            type=f"/docs/problems#{self.code}",
            title=self.title,
            status=self.status,
            code=self.code,
            detail=detail,
            remedy=remedy or self.remedy,
            errors=errors or [],
            aws=aws,
            data=data or {},
        )
        return ProblemError(problem, log=log, transient=transient, lost=lost, consent=consent)


CATALOG: dict[str, ProblemKind] = {}
"""Every kind that was defined, by code."""


def define(code: str, status: int, title: str, remedy: str | None = None) -> ProblemKind:
    """Register a kind of problem; a code is defined once."""
    if code in CATALOG:
        raise ValueError(f"problem code {code} is defined twice")
    kind = ProblemKind(code, status, title, remedy)
    CATALOG[code] = kind
    return kind


INVALID_REQUEST = define("invalid_request", 422, "The request has bad fields", "Correct the fields listed in errors.")
UNAUTHENTICATED = define("unauthenticated", 401, "Who are you?", "Log in, or send a valid bearer token.")
FORBIDDEN = define("forbidden", 403, "Your role does not allow this", "Ask an admin, or use another token.")
FORBIDDEN_HOST = define("forbidden_host", 403, "The Host header is not allowed", "Use the address that was printed.")
FORBIDDEN_ORIGIN = define("forbidden_origin", 403, "The Origin is not allowed", "Use the web UI of this service.")
NOT_FOUND = define("not_found", 404, "There is no such thing")
METHOD_NOT_ALLOWED = define("method_not_allowed", 405, "This path does not take that method")
CONFLICT = define("conflict", 409, "Something else is in the way")
PRECONDITION_FAILED = define(
    "precondition_failed", 412, "Reality moved since you looked", "Read it again, then decide again."
)
TOO_LARGE = define("too_large", 413, "The request is too large", "Send at most 1 MB.")
UNSUPPORTED_MEDIA_TYPE = define("unsupported_media_type", 415, "Only JSON bodies are understood")
INTERNAL = define("internal", 500, "Something broke inside the service", "Try again; the log has the details.")
UPSTREAM = define("upstream", 502, "A service behind this one answered badly", "Try again in a moment.")
UPSTREAM_TIMEOUT = define("upstream_timeout", 504, "A service behind this one did not answer", "Try again in a moment.")
