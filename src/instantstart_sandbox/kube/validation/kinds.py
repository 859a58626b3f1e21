"""The rules of single kinds, by resource."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from instantstart_sandbox.kube.catalog import Kind
from instantstart_sandbox.kube.status import Cause

Obj = dict[str, Any]
Rule = Callable[[Obj, Obj | None], list[Cause]]
RULES: dict[str, list[Rule]] = {}


def rule(*keys: str) -> Callable[[Rule], Rule]:
    """Register a check of resources; it gets the new object and, on a change, the old one."""

    def add(fn: Rule) -> Rule:
        for key in keys:
            RULES.setdefault(key, []).append(fn)
        return fn

    return add


def check(kind: Kind, new: Obj, old: Obj | None, subresource: str) -> list[Cause]:
    """Faults by the kind's own rules."""
    key = f"{kind.key}/{subresource}" if subresource else kind.key
    return [cause for fn in RULES.get(key, ()) for cause in fn(new, old)]
