"""Where the checks of all kinds come together: metadata first, then the kind's own rules."""

from __future__ import annotations

from typing import Any

from instantstart_sandbox.kube import jsonpath, schema
from instantstart_sandbox.kube.catalog import Kind
from instantstart_sandbox.kube.status import Cause
from instantstart_sandbox.kube.validation import core, definitions, kinds, metadata, workloads

Obj = dict[str, Any]
_REGISTERED = (core, definitions, workloads)
_UNCHECKED = (
    "some validation rules were not checked because the object was invalid; correct the existing errors to complete "
    "validation"
)


def check(kind: Kind, new: Obj, old: Obj | None, subresource: str = "") -> list[Cause]:
    """Every fault of a new object, or of a change when `old` is given."""
    causes = metadata.on_create(kind, new) if old is None else metadata.on_update(kind, new, old)
    if kind.custom is not None:
        return [*causes, *_custom(kind, new)]
    return [*causes, *kinds.check(kind, new, old, subresource)]


_BLOCKING = (
    "FieldValueRequired",
    "FieldValueTooLong",
    "FieldValueTooMany",
    "FieldValueTypeInvalid",
    "FieldValueNotSupported",
)


def _custom(kind: Kind, new: Obj) -> list[Cause]:
    causes = schema.faults(kind.custom.schema, new)
    causes.extend(_scale(kind, new))
    if kind.custom.has_rules and any(c.reason in _BLOCKING for c in causes):
        causes.append(Cause("<nil>", "FieldValueInvalid", f"Invalid value: null: {_UNCHECKED}"))
    return causes


def _scale(kind: Kind, new: Obj) -> list[Cause]:
    """Replica counts that the scale subresource could not read."""
    found: list[Cause] = []
    paths = kind.custom.scale or {}
    for name in ("specReplicasPath", "statusReplicasPath"):
        path = str(paths.get(name, ""))
        value = jsonpath.first(path, new) if path else None
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int):
            shown = "string" if isinstance(value, str) else "bool" if isinstance(value, bool) else "float64"
            text = f"Invalid value: 0: {path} accessor error: {value} is of the type {shown}, expected int64"
            found.append(Cause(path, "FieldValueInvalid", text))
        elif value < 0:
            found.append(Cause(path, "FieldValueInvalid", f"Invalid value: {value}: should be a non-negative integer"))
    return found
