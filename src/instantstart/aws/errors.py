"""AWS errors as problems: what the caller does next, what the service said, and whether the request may have landed."""

from __future__ import annotations

import re
from typing import Any

from botocore import exceptions as boto
from botocore.parsers import ResponseParserError

from instantstart.core.problem import AwsFault, ProblemError, ProblemKind, define

AWS_THROTTLED = define("aws_throttled", 503, "AWS asks for fewer requests", "Nothing: it is tried again by itself.")
AWS_UNAVAILABLE = define("aws_unavailable", 502, "AWS cannot be reached or is broken", "Try again in a moment.")
AWS_ANSWER_LOST = define(
    "aws_answer_lost", 504, "AWS did not answer", "Look at the object itself before sending it again."
)
AWS_DENIED = define(
    "aws_denied", 502, "AWS denies this to the service", "Give the service's role the permission named in the detail."
)
AWS_CREDENTIALS = define(
    "aws_credentials",
    502,
    "The service's AWS credentials are not accepted",
    "Renew the credentials the service runs with, then retry.",
)
AWS_QUOTA = define(
    "aws_quota", 409, "An account quota is too low", "Ask for an increase in Service Quotas, then retry."
)
AWS_CONFLICT = define("aws_conflict", 409, "AWS says that something is in the way", "Wait until it has ended; retry.")
AWS_NOT_FOUND = define("aws_not_found", 404, "AWS does not know this")
AWS_REFUSED = define("aws_refused", 422, "AWS refused the request", "Correct what the detail names, then retry.")

_THROTTLED = re.compile(r"Throttl|TooManyRequests|^RequestLimitExceeded|^SlowDown|PriorRequestNotComplete")
_CREDENTIALS = re.compile(
    r"^(ExpiredToken|InvalidClientTokenId|UnrecognizedClient|InvalidAccessKeyId|SignatureDoesNotMatch|AuthFailure"
    r"|InvalidSignature|InvalidIdentityToken|MissingAuthenticationToken|RequestExpired|InvalidToken)"
)
_DENIED = re.compile(r"^(AccessDenied|UnauthorizedOperation|NotAuthorized|OptInRequired|Forbidden$|403$)")
_QUOTA = re.compile(r"(LimitExceeded|QuotaExceeded|^TooManyBuckets|^AddressLimit)")
_NOT_FOUND = re.compile(r"(NotFound|^NoSuch|^404$|DoesNotExist)")
_CONFLICT = re.compile(
    r"(Conflict|ResourceInUse|AlreadyExists|AlreadyOwnedByYou|^DependencyViolation|\.Duplicate$|\.InUse$"
    r"|^ConcurrentModification|^EntityTemporarilyUnmodifiable|^DeleteConflict|^OperationAborted|^OperationInProgress)"
)
_BUSY = re.compile(r"^(ConcurrentModification|EntityTemporarilyUnmodifiable|OperationAborted)")
_UNAVAILABLE = re.compile(r"^(ServiceUnavailable|InternalFailure|InternalError|InternalServer|ServerException)")
_LIMIT_TEXT = re.compile(
    r"service limit '(?P<quota>[^']+)' is (?P<limit>\d+).*?utilization of (?P<used>\d+).*?delta of (?P<asked>\d+)", re.S
)
_NOT_SENT = (
    boto.EndpointConnectionError,
    boto.ConnectTimeoutError,
    boto.ProxyConnectionError,
    boto.SSLError,
)
_UNANSWERED = (boto.HTTPClientError, boto.IncompleteReadError, boto.ResponseStreamingError, ResponseParserError)
"""Perhaps sent, no answer; an answer that is none of the service's (a gateway's page) says no more than none."""
_NO_CREDENTIALS = (
    boto.NoCredentialsError,
    boto.PartialCredentialsError,
    boto.CredentialRetrievalError,
    boto.TokenRetrievalError,
    boto.UnauthorizedSSOTokenError,
)


class AwsProblem(ProblemError):  # noqa: N818 - the product's word
    """A problem that came from AWS. `aws_code` and `aws_message` are the service's own; "" when it did not answer."""

    def __init__(self, made: ProblemError, *, aws_code: str = "", aws_message: str = "") -> None:
        super().__init__(made.problem, log=made.log, transient=made.transient, lost=made.lost)
        self.aws_code = aws_code
        self.aws_message = aws_message

    @property
    def not_found(self) -> bool:
        """Whether the service does not know the object."""
        return self.code == AWS_NOT_FOUND.code

    @property
    def conflict(self) -> bool:
        """Whether something is in the way: it exists, is in use, or is being changed."""
        return self.code == AWS_CONFLICT.code

    def says(self, *parts: str) -> bool:
        """Whether the service's message contains one of `parts`, whatever the case."""
        text = self.aws_message.lower()
        return any(part.lower() in text for part in parts)


def from_answer(service: str, operation: str, error: boto.ClientError, *, changes: bool) -> AwsProblem:
    """The problem for an error answer. A 5xx to a changing call is `lost`: it may have taken effect."""
    body: dict[str, Any] = error.response.get("Error", {})
    metadata: dict[str, Any] = error.response.get("ResponseMetadata", {})
    code, message = str(body.get("Code", "")), str(body.get("Message", ""))
    status = int(metadata.get("HTTPStatusCode", 0) or 0)
    fault = AwsFault(
        service=service, operation=operation, code=code, message=message, request_id=metadata.get("RequestId")
    )
    kind = classify(code, message, status)
    broken = kind is AWS_UNAVAILABLE and status != 503
    made = kind(
        f"{service} {operation}: {message or code or f'status {status}'}",
        aws=fault,
        data=_quota_facts(message) if kind is AWS_QUOTA else None,
        log=f"{service} {operation} answered {status} {code}: {message}",
        transient=kind in (AWS_THROTTLED, AWS_UNAVAILABLE) or _BUSY.search(code) is not None,
        lost=broken and changes,
    )
    return AwsProblem(made, aws_code=code, aws_message=message)


def classify(code: str, message: str, status: int) -> ProblemKind:
    """The kind of problem for a service's error code, message and HTTP status."""
    if _THROTTLED.search(code) or status == 429:
        return AWS_THROTTLED
    if _CREDENTIALS.search(code):
        return AWS_CREDENTIALS
    if _DENIED.search(code):
        return AWS_DENIED
    if _NOT_FOUND.search(code) or (code == "ValidationError" and "does not exist" in message):
        return AWS_NOT_FOUND
    if _QUOTA.search(code):
        return AWS_QUOTA
    if _UNAVAILABLE.search(code) or status >= 500:
        return AWS_UNAVAILABLE
    return AWS_CONFLICT if _CONFLICT.search(code) else AWS_REFUSED


def from_failure(service: str, operation: str, error: Exception, *, changes: bool) -> AwsProblem:
    """The problem for a call that got no answer: never sent, perhaps sent, or refused by the client itself."""
    said = f"{service} {operation}: {error}"
    if isinstance(error, _NO_CREDENTIALS):
        return AwsProblem(AWS_CREDENTIALS(said, log=said))
    if isinstance(error, boto.ParamValidationError | boto.ValidationError | boto.UnknownServiceError):
        return AwsProblem(AWS_REFUSED(said, log=said))
    if isinstance(error, _NOT_SENT):
        return AwsProblem(AWS_UNAVAILABLE(said, log=said, transient=True))
    if isinstance(error, _UNANSWERED):
        if changes:
            return AwsProblem(AWS_ANSWER_LOST(said, log=said, lost=True))
        return AwsProblem(AWS_UNAVAILABLE(said, log=said, transient=True))
    return AwsProblem(AWS_REFUSED(said, log=said))


def late(service: str, operation: str, timeout: float, *, changes: bool) -> AwsProblem:
    """The problem for a call without an answer after `timeout` seconds."""
    said = f"{service} {operation}: no answer within {timeout:g} s."
    if changes:
        return AwsProblem(AWS_ANSWER_LOST(said, log=said, lost=True))
    return AwsProblem(AWS_UNAVAILABLE(said, log=said, transient=True))


def _quota_facts(message: str) -> dict[str, Any] | None:
    found = _LIMIT_TEXT.search(message)
    if found is None:
        return None
    return {
        "quota": found["quota"],
        "limit": int(found["limit"]),
        "in_use": int(found["used"]),
        "asked": int(found["asked"]),
    }
