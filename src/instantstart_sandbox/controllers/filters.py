"""Why a pod does not fit a node: the scheduler's filters in its order, with its words."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from instantstart_sandbox.controllers.amounts import Amounts, amounts, host_ports, pod_requests
from instantstart_sandbox.controllers.index import Usage
from instantstart_sandbox.kube.selectors import Requirement

Obj = dict[str, Any]
UNSCHEDULABLE = "node(s) were unschedulable"
NODE_NAME = "node(s) didn't match the requested node name"
AFFINITY = "node(s) didn't match Pod's node affinity/selector"
PORTS = "node(s) didn't have free ports for the requested pod ports"
MANY_PODS = "Too many pods"
VOLUME_NODE = "node(s) didn't match PersistentVolume's node affinity"
_OPERATORS = {"In": "in", "NotIn": "notin", "Exists": "exists", "DoesNotExist": "absent", "Gt": "gt", "Lt": "lt"}
_NONE = Usage()


def tolerates(tolerations: list[Obj], taint: Obj) -> Obj | None:
    """The toleration that covers a taint, if one does."""
    for item in tolerations:
        if item.get("effect") and item["effect"] != taint["effect"]:
            continue
        if item.get("key") and item["key"] != taint["key"]:
            continue
        operator = item.get("operator") or "Equal"
        if operator == "Exists" or (item.get("key") and (item.get("value") or "") == (taint.get("value") or "")):
            return item
    return None


def untolerated(tolerations: list[Obj], taints: list[Obj]) -> Obj | None:
    """The first taint that keeps a pod away."""
    for taint in taints:
        if taint["effect"] in ("NoSchedule", "NoExecute") and tolerates(tolerations, taint) is None:
            return taint
    return None


def _expression(item: Obj, given: dict[str, str]) -> bool:
    found = Requirement(item["key"], _OPERATORS[item["operator"]], frozenset(item.get("values") or ()))
    return found.matches(given)


def term_matches(term: Obj, node: Obj) -> bool:
    """Whether a node selector term matches; an empty term matches nothing."""
    given = node["metadata"].get("labels") or {}
    expressions, fields = term.get("matchExpressions") or [], term.get("matchFields") or []
    if not expressions and not fields:
        return False
    named = {"metadata.name": node["metadata"]["name"]}
    return all(_expression(e, given) for e in expressions) and all(_expression(f, named) for f in fields)


def selects(spec: Obj, node: Obj) -> bool:
    """nodeSelector and required node affinity."""
    given = node["metadata"].get("labels") or {}
    if not (spec.get("nodeSelector") or {}).items() <= given.items():
        return False
    affinity = ((spec.get("affinity") or {}).get("nodeAffinity") or {}).get(
        "requiredDuringSchedulingIgnoredDuringExecution"
    )
    return affinity is None or any(term_matches(t, node) for t in affinity.get("nodeSelectorTerms") or [])


@dataclass
class Ask:
    """A pod's wishes, worked out once for all nodes."""

    pod: Obj
    spec: Obj = field(init=False)
    requests: Amounts = field(init=False)
    ports: set[tuple[str, int]] = field(init=False)
    tolerations: list[Obj] = field(init=False)
    volume_terms: list[Obj] = field(default_factory=list)
    """Required node selectors of the volumes that its claims are bound to."""

    def __post_init__(self) -> None:
        self.spec = self.pod["spec"]
        self.requests = pod_requests(self.spec)
        self.ports = host_ports(self.spec)
        self.tolerations = self.spec.get("tolerations") or []


def refusals(ask: Ask, node: Obj, usage: Usage | None) -> list[str]:
    """Reasons of the first filter that refuses; empty when the pod fits."""
    spec, node_spec = ask.spec, node["spec"]
    if node_spec.get("unschedulable"):
        mark = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
        if tolerates(ask.tolerations, mark) is None:
            return [UNSCHEDULABLE]
    taint = untolerated(ask.tolerations, node_spec.get("taints") or [])
    if taint is not None:
        return [f"node(s) had untolerated taint {{{taint['key']}: {taint.get('value') or ''}}}"]
    if not selects(spec, node):
        return [AFFINITY]
    used = usage or _NONE
    if any(used.ports.get(p) for p in ask.ports):
        return [PORTS]
    found = _resources(ask.requests, node, used)
    if found:
        return found
    if any(not any(term_matches(t, node) for t in terms["nodeSelectorTerms"]) for terms in ask.volume_terms):
        return [VOLUME_NODE]
    return []


def room(node: Obj) -> Amounts:
    """What a node offers, as numbers."""
    return amounts((node.get("status") or {}).get("allocatable"))


def _resources(asked: Amounts, node: Obj, used: Usage) -> list[str]:
    offered = room(node)
    found = [MANY_PODS] if used.pods + 1 > offered.get("pods", 110) else []
    for name, value in asked.items():
        if value > 0 and value + used.amounts.get(name, 0) > offered.get(name, 0):
            found.append(f"Insufficient {name}")
    return found


def resolvable(reasons: list[str]) -> bool:
    """Whether moving other pods away could help."""
    return all(r.startswith(("Insufficient", "Too many", "node(s) didn't have free ports")) for r in reasons)


def share(node: Obj, used: Usage | None) -> float:
    """How full a node is (0 to 1) by its fullest resource; the scheduler prefers emptier ones."""
    offered, taken = room(node), (used or _NONE).amounts
    return max((taken.get(n, 0) / offered[n] for n in ("cpu", "memory") if offered.get(n)), default=0.0)


def preference(ask: Ask, node: Obj) -> int:
    """Weight of the preferred node affinity terms that match."""
    terms = ((ask.spec.get("affinity") or {}).get("nodeAffinity") or {}).get(
        "preferredDuringSchedulingIgnoredDuringExecution"
    ) or []
    total: int = sum(t["weight"] for t in terms if term_matches(t["preference"], node))
    soft = [t for t in node["spec"].get("taints") or [] if t["effect"] == "PreferNoSchedule"]
    return total - 100 * sum(1 for t in soft if tolerates(ask.tolerations, t) is None)
