"""Rules of resource requests and limits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from instantstart_sandbox.kube import quantity
from instantstart_sandbox.kube.status import Cause
from instantstart_sandbox.kube.validation.metadata import bad, denied, qualified_faults, required

Obj = dict[str, Any]
_STANDARD = ("cpu", "memory", "ephemeral-storage")


def _extended(name: str) -> bool:
    return "/" in name and not name.startswith("kubernetes.io/")


def _name(name: str, field: str) -> Iterator[Cause]:
    for text in qualified_faults(name):
        yield bad(field, name, text)
    if "/" not in name and name not in _STANDARD and not name.startswith("hugepages-"):
        yield bad(field, name, "must be a standard resource type or fully qualified")
        yield bad(field, name, "must be a standard resource for containers")


def _amount(name: str, value: str, field: str) -> Iterator[Cause]:
    amount = quantity.parse(value)
    if amount < 0:
        yield bad(field, value, "must be greater than or equal to 0")
    if _extended(name) and amount != amount.to_integral_value():
        yield bad(field, value, "must be an integer")
    if name.startswith("hugepages-"):
        size = quantity.parse(name.partition("-")[2])
        if size and amount % size:
            yield bad(field, value, f"{value} is not positive integer multiple of {name}")


def check(resources: Obj, where: str) -> Iterator[Cause]:
    """Faults of a container's resources."""
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    huge = False
    for name, value in limits.items():
        field = f"{where}.limits[{name}]"
        yield from _name(name, field)
        yield from _amount(name, value, field)
        huge = huge or name.startswith("hugepages-")
    for name, value in requests.items():
        field = f"{where}.requests[{name}]"
        yield from _name(name, field)
        yield from _amount(name, value, field)
        fixed = _extended(name) or name.startswith("hugepages-")
        limit = limits.get(name)
        if limit is not None:
            if fixed and quantity.parse(value) != quantity.parse(limit):
                yield bad(f"{where}.requests", value, f"must be equal to {name} limit of {limit}")
            elif not fixed and quantity.parse(value) > quantity.parse(limit):
                yield bad(f"{where}.requests", value, f"must be less than or equal to {name} limit of {limit}")
        elif fixed:
            yield required(f"{where}.limits", "Limit must be set for non overcommitable resources")
    if huge and not ({"cpu", "memory"} & {*limits, *requests}):
        yield denied(where, "HugePages require cpu or memory")
