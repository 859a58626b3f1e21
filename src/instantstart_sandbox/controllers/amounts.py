"""Resource amounts as whole numbers: cpu in millicores, everything else in its own unit (bytes, devices)."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from instantstart_sandbox.kube.quantity import parse

Obj = dict[str, Any]
Amounts = dict[str, int]


@lru_cache(maxsize=4096)
def amount(name: str, text: str) -> int:
    """One quantity as an integer, rounded up."""
    value = parse(text)
    if name == "cpu":
        value *= 1000
    whole = int(value)
    return whole if whole == value else whole + 1


def amounts(given: Obj | None) -> Amounts:
    """A map of quantities."""
    return {name: amount(name, str(text)) for name, text in (given or {}).items()}


def _container(container: Obj) -> Amounts:
    resources = container.get("resources") or {}
    return amounts({**(resources.get("limits") or {}), **(resources.get("requests") or {})}) if resources else {}


def pod_requests(spec: Obj) -> Amounts:
    """What a pod asks for: the sum of its containers, or the largest init container when that is more, plus overhead."""
    total: Amounts = {}
    for container in spec.get("containers") or []:
        _add(total, _requests(container))
    sidecars: Amounts = {}
    for container in spec.get("initContainers") or []:
        asked = _requests(container)
        if container.get("restartPolicy") == "Always":
            _add(total, asked)
            _add(sidecars, asked)
            continue
        for name, value in asked.items():
            total[name] = max(total.get(name, 0), value + sidecars.get(name, 0))
    _add(total, amounts(spec.get("overhead")))
    return total


def _requests(container: Obj) -> Amounts:
    """Requests; devices may stand under limits alone, which the API server copies only for known defaults."""
    return _container(container)


def _add(total: Amounts, more: Amounts) -> None:
    for name, value in more.items():
        total[name] = total.get(name, 0) + value


def host_ports(spec: Obj) -> set[tuple[str, int]]:
    """(protocol, port) pairs that a pod takes on its node."""
    found: set[tuple[str, int]] = set()
    for container in spec.get("containers") or []:
        for port in container.get("ports") or []:
            taken = port.get("hostPort") or (port["containerPort"] if spec.get("hostNetwork") else 0)
            if taken:
                found.add((port.get("protocol", "TCP"), taken))
    return found
