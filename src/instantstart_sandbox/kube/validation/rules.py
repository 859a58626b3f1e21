"""Where the checks of all kinds come together: metadata first, then the kind's own rules."""

from __future__ import annotations

from typing import Any

from instantstart_sandbox.kube import schema
from instantstart_sandbox.kube.catalog import Kind
from instantstart_sandbox.kube.status import Cause
from instantstart_sandbox.kube.validation import core, definitions, kinds, metadata, workloads

Obj = dict[str, Any]
_REGISTERED = (core, definitions, workloads)
_UNCHECKED = "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"


def check(kind: Kind, new: Obj, old: Obj | None, subresource: str = "") -> list[Cause]:
    """Every fault of a new object, or of a change when `old` is given."""
    if old is None:
        causes = metadata.on_create(kind, new)
    else:
        causes = metadata.on_update(kind, new, old)
    if kind.custom is not None:
        return [*causes, *_custom(kind, new)]
    return [*causes, *kinds.check(kind, new, old, subresource)]


def _custom(kind: Kind, new: Obj) -> list[Cause]:
    causes = schema.faults(kind.custom.schema, new)
    return causes
