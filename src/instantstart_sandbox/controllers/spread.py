"""Filters that look at other pods: affinity and anti-affinity between pods, topology spread constraints."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from instantstart_sandbox.controllers.filters import selects
from instantstart_sandbox.controllers.index import finished
from instantstart_sandbox.kube.objects import KubeApi
from instantstart_sandbox.kube.selectors import label_match, parse_label_selector

Obj = dict[str, Any]
NodeCheck = Callable[[Obj], str | None]
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
NO_AFFINITY = "node(s) didn't match pod affinity rules"
ANTI_AFFINITY = "node(s) didn't match pod anti-affinity rules"
REPELLED = "node(s) didn't satisfy existing pods anti-affinity rules"
SPREAD = "node(s) didn't match pod topology spread constraints"
SPREAD_LABEL = "node(s) didn't match pod topology spread constraints (missing required label)"


def checks(kube: KubeApi, cluster: str, pod: Obj, repelling: Iterable[tuple[str, str]]) -> list[NodeCheck]:
    """The checks that a pod needs; most pods need none."""
    spec = pod["spec"]
    affinity = spec.get("affinity") or {}
    found: list[NodeCheck] = []
    constraints = [c for c in spec.get("topologySpreadConstraints") or [] if c["whenUnsatisfiable"] == "DoNotSchedule"]
    for constraint in constraints:
        found.append(_spread(kube, cluster, pod, constraint))
    for term in (affinity.get("podAffinity") or {}).get(REQUIRED) or []:
        found.append(_near(kube, cluster, pod, term))
    for term in (affinity.get("podAntiAffinity") or {}).get(REQUIRED) or []:
        taken = _domains(kube, cluster, pod, term)
        found.append(_away(term["topologyKey"], taken, ANTI_AFFINITY))
    for namespace, name in sorted(repelling):
        other = kube.get(cluster, "pods", namespace, name)
        if other is not None:
            found += _repelled(kube, cluster, pod, other)
    return found


def _label(node: Obj, key: str) -> str | None:
    found: str | None = (node["metadata"].get("labels") or {}).get(key)
    return found


def _node_of(kube: KubeApi, cluster: str, pod: Obj) -> Obj | None:
    name = pod["spec"].get("nodeName")
    return kube.get(cluster, "nodes", None, name) if name else None


def _covers(term: Obj, owner: Obj, pod: Obj) -> bool:
    spaces = term.get("namespaces") or ([] if "namespaceSelector" in term else [owner["metadata"]["namespace"]])
    if spaces and pod["metadata"]["namespace"] not in spaces:
        return False
    return label_match(parse_label_selector(term.get("labelSelector")))(pod)


def _placed(kube: KubeApi, cluster: str, term: Obj, owner: Obj) -> list[Obj]:
    alone = not term.get("namespaces") and "namespaceSelector" not in term
    pods = kube.list(cluster, "pods", owner["metadata"]["namespace"] if alone else None)
    return [p for p in pods if p["spec"].get("nodeName") and not finished(p) and _covers(term, owner, p)]


def _domains(kube: KubeApi, cluster: str, pod: Obj, term: Obj) -> set[str]:
    nodes = (_node_of(kube, cluster, p) for p in _placed(kube, cluster, term, pod))
    return {value for n in nodes if n is not None and (value := _label(n, term["topologyKey"])) is not None}


def _away(key: str, taken: set[str], reason: str) -> NodeCheck:
    return lambda node: reason if _label(node, key) in taken else None


def _near(kube: KubeApi, cluster: str, pod: Obj, term: Obj) -> NodeCheck:
    wanted, key = _domains(kube, cluster, pod, term), term["topologyKey"]
    first = not wanted and _covers(term, pod, pod)

    def check(node: Obj) -> str | None:
        value = _label(node, key)
        fits = value is not None and (first or value in wanted)
        return None if fits else NO_AFFINITY

    return check


def _repelled(kube: KubeApi, cluster: str, pod: Obj, other: Obj) -> list[NodeCheck]:
    found: list[NodeCheck] = []
    for term in other["spec"]["affinity"]["podAntiAffinity"][REQUIRED]:
        node = _node_of(kube, cluster, other)
        value = _label(node, term["topologyKey"]) if node is not None else None
        if value is not None and _covers(term, other, pod):
            found.append(_away(term["topologyKey"], {value}, REPELLED))
    return found


def _spread(kube: KubeApi, cluster: str, pod: Obj, constraint: Obj) -> NodeCheck:
    key, skew = constraint["topologyKey"], constraint["maxSkew"]
    match = label_match(parse_label_selector(constraint.get("labelSelector")))
    counts: dict[str, int] = {}
    for node in kube.list(cluster, "nodes"):
        value = _label(node, key)
        if value is not None and selects(pod["spec"], node):
            counts.setdefault(value, 0)
    for other in kube.list(cluster, "pods", pod["metadata"]["namespace"]):
        if "deletionTimestamp" in other["metadata"] or finished(other) or not match(other):
            continue
        home = _node_of(kube, cluster, other)
        value = _label(home, key) if home is not None else None
        if value in counts:
            counts[value] += 1
    least = min(counts.values(), default=0)
    if len(counts) < (constraint.get("minDomains") or 1):
        least = 0
    mine = 1 if match(pod) else 0

    def check(node: Obj) -> str | None:
        value = _label(node, key)
        if value is None:
            return SPREAD_LABEL
        return SPREAD if counts.get(value, 0) + mine - least > skew else None

    return check
