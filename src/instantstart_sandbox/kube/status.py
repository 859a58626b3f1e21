"""Status answers of the API server: one exception type with the reason, code, details and message of the real one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

JsonObject = dict[str, Any]


@dataclass
class ApiError(Exception):
    """A failed request; `body()` is what the client gets."""

    code: int
    reason: str
    message: str
    details: JsonObject | None = None
    headers: dict[str, str] = field(default_factory=dict)

    def body(self) -> JsonObject:
        """The Status object."""
        out: JsonObject = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "reason": self.reason,
        }
        if not self.reason:
            del out["reason"]
        if self.details is not None:
            out["details"] = self.details
        return {**out, "code": self.code}


@dataclass(frozen=True, slots=True)
class Cause:
    """One fault of an object: `reason` is FieldValueRequired, FieldValueInvalid, …; `text` follows `field: `."""

    field: str
    reason: str
    text: str


def qualified(resource: str, group: str) -> str:
    """`plural.group`, or `plural` for the core group."""
    return f"{resource}.{group}" if group else resource


def _named(name: str, group: str, kind: str, uid: str = "") -> JsonObject:
    out = {"name": name, "group": group, "kind": kind, "uid": uid}
    return {k: v for k, v in out.items() if v}


def not_found(resource: str, group: str, name: str) -> ApiError:
    """404 of an object."""
    text = f'{qualified(resource, group)} "{name}" not found'
    return ApiError(404, "NotFound", text, _named(name, group, resource))


def no_such_resource() -> ApiError:
    """404 of a resource that this server does not serve."""
    return ApiError(404, "NotFound", "the server could not find the requested resource", {})


def already_exists(resource: str, group: str, name: str) -> ApiError:
    """409 on create."""
    text = f'{qualified(resource, group)} "{name}" already exists'
    return ApiError(409, "AlreadyExists", text, _named(name, group, resource))


def conflict(resource: str, group: str, name: str, why: str, uid: str = "") -> ApiError:
    """409 of an update or a precondition."""
    text = f'Operation cannot be fulfilled on {qualified(resource, group)} "{name}": {why}'
    return ApiError(409, "Conflict", text, _named(name, group, resource, uid))


STALE = "the object has been modified; please apply your changes to the latest version and try again"


def bad_request(message: str) -> ApiError:
    """400 BadRequest."""
    return ApiError(400, "BadRequest", message)


def method_not_allowed() -> ApiError:
    """405 in the words of the generic handler."""
    return ApiError(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", {})


def unsupported_media(accepted: list[str]) -> ApiError:
    """415 of a request body."""
    text = "the body of the request was in an unknown format - accepted media types include: " + ", ".join(accepted)
    return ApiError(415, "UnsupportedMediaType", text)


def unauthorized() -> ApiError:
    """401."""
    return ApiError(401, "Unauthorized", "Unauthorized")


def forbidden(resource: str, group: str, name: str, why: str) -> ApiError:
    """403; `why` is the part after the resource."""
    shown = f' "{name}"' if name else ""
    if not resource:
        return ApiError(403, "Forbidden", f"forbidden: {why}", {})
    text = f"{qualified(resource, group)}{shown} is forbidden: {why}"
    return ApiError(403, "Forbidden", text, _named(name, group, resource))


def invalid(kind: str, group: str, name: str, causes: list[Cause]) -> ApiError:
    """422 with every fault."""
    texts = [f"{c.field}: {c.text}" for c in causes]
    texts = list(dict.fromkeys(texts))
    joined = texts[0] if len(texts) == 1 else "[" + ", ".join(texts) + "]"
    details = _named(name, group, kind)
    details["causes"] = [{"reason": c.reason, "message": c.text, "field": c.field} for c in causes]
    return ApiError(422, "Invalid", f'{qualified(kind, group)} "{name}" is invalid: {joined}', details)


def expired(message: str) -> ApiError:
    """410."""
    return ApiError(410, "Expired", message)


def too_many(message: str, seconds: int) -> ApiError:
    """429 with Retry-After."""
    return ApiError(
        429, "TooManyRequests", message, {"retryAfterSeconds": seconds}, headers={"Retry-After": str(seconds)}
    )


def success(details: JsonObject | None = None) -> JsonObject:
    """The Status object of a delete that left nothing to show."""
    out: JsonObject = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
    return {**out, "details": details} if details else out
