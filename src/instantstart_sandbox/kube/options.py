"""Query options of writes: dryRun, fieldManager, fieldValidation, force, and how to delete."""

from __future__ import annotations

from typing import Any

from instantstart_sandbox.kube import bodies, canonical
from instantstart_sandbox.kube.engine import DeleteOptions
from instantstart_sandbox.kube.status import ApiError, Cause, bad_request, invalid
from instantstart_sandbox.kube.types import struct
from instantstart_sandbox.kube.wire import Request

Obj = dict[str, Any]
_POLICIES = ("Foreground", "Background", "Orphan")
_SCHEME = "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27"


def check(request: Request, name: str, apply: bool = False) -> bool:
    """Whether the write is a dry run; ApiError 422 naming every bad option. `name`: CreateOptions, …"""
    causes: list[Cause] = []
    force = "force" in request.query
    manager = request.query.get("fieldManager", [""])[0]
    if apply and not manager:
        causes.append(Cause("fieldManager", "FieldValueRequired", "Required value: is required for apply patch"))
    elif name == "PatchOptions" and not apply and force:
        text = "Forbidden: may not be specified for non-apply patch"
        causes.append(Cause("force", "FieldValueForbidden", text))
    if len(manager) > 128:
        causes.append(Cause("fieldManager", "FieldValueTooLong", "Too long: may not be more than 128 bytes"))
    for at, letter in enumerate(manager):
        if not letter.isprintable():
            shown = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in manager)
            text = f'Invalid value: "{shown}": invalid character U+{ord(letter):04X} (at position {at})'
            causes.append(Cause("fieldManager", "FieldValueInvalid", text))
    dry = request.query.get("dryRun", [])
    if dry and dry != ["All"]:
        listed = "[" + ",".join(f'"{d}"' for d in dry) + "]"
        text = f'Unsupported value: {listed}: supported values: "All"'
        causes.append(Cause("dryRun", "FieldValueNotSupported", text))
    mode = request.arg("fieldValidation")
    if mode not in ("", "Ignore", "Strict", "Warn"):
        text = f'Unsupported value: "{mode}": supported values: "", "Ignore", "Strict", "Warn"'
        causes.append(Cause("fieldValidation", "FieldValueNotSupported", text))
    if causes:
        raise invalid(name, "meta.k8s.io", "", causes)
    return bool(dry)


def _number(text: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise bad_request(f'strconv.ParseInt: parsing "{text}": invalid syntax') from error


def _body(request: Request) -> Obj:
    if not request.body:
        query: Obj = {}
        if request.arg("gracePeriodSeconds"):
            query["gracePeriodSeconds"] = _number(request.arg("gracePeriodSeconds"))
        if request.arg("propagationPolicy"):
            query["propagationPolicy"] = request.arg("propagationPolicy")
        if "orphanDependents" in request.query:
            query["orphanDependents"] = request.flag("orphanDependents")
        if request.query.get("dryRun"):
            query["dryRun"] = request.query["dryRun"]
        return query
    body = bodies.raw(request, None, "DeleteOptions")
    if not isinstance(body, dict):
        raise bad_request("the object provided is unrecognized (must be of type DeleteOptions)")
    kind, version = body.get("kind", "DeleteOptions"), body.get("apiVersion", "v1")
    if kind != "DeleteOptions":
        raise bad_request(f'no kind "{kind}" is registered for version "{version}" in scheme "{_SCHEME}"')
    try:
        return canonical.decode(struct("meta/v1.DeleteOptions"), body)
    except canonical.DecodeError as error:
        raise bad_request(str(error)) from error


def deletion(request: Request) -> DeleteOptions:
    """The DeleteOptions of a request, from body or query; ApiError 422 for what may not be."""
    body = _body(request)
    causes: list[Cause] = []
    policy, orphan = body.get("propagationPolicy"), body.get("orphanDependents")
    if policy is not None and orphan is not None:
        text = f'Invalid value: "{policy}": orphanDependents and deletionPropagation cannot be both set'
        causes.append(Cause("propagationPolicy", "FieldValueInvalid", text))
    if policy is not None and policy not in _POLICIES:
        listed = '"Foreground", "Background", "Orphan", "nil"'
        text = f'Unsupported value: "{policy}": supported values: {listed}'
        causes.append(Cause("propagationPolicy", "FieldValueNotSupported", text))
    dry = [*(body.get("dryRun") or []), *request.query.get("dryRun", [])]
    if dry and set(dry) != {"All"}:
        listed = "[" + ",".join(f'"{d}"' for d in dry) + "]"
        causes.append(
            Cause("dryRun", "FieldValueNotSupported", f'Unsupported value: {listed}: supported values: "All"')
        )
    if causes:
        raise invalid("DeleteOptions", "meta.k8s.io", "", causes)
    if orphan is not None and policy is None:
        policy = "Orphan" if orphan else "Background"
    given = body.get("preconditions") or {}
    grace = body.get("gracePeriodSeconds")
    if grace is not None and grace < 0:
        grace = 1
    return DeleteOptions(grace, policy or "", given.get("uid", ""), given.get("resourceVersion", ""), bool(dry))


__all__ = ["ApiError", "check", "deletion"]
