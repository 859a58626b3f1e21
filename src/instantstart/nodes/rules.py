"""Joins HyperPod's and Kubernetes' views of machines, and counts accelerators. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from instantstart.addons.rules import schedulable
from instantstart.nodes.schema import GpuCounts, NodeCounts, NodeHealth, NodeView

Doc = dict[str, Any]
PREFIX = "sagemaker.amazonaws.com/"
GROUP_LABEL = PREFIX + "instance-group-name"
HEALTH_LABEL = PREFIX + "node-health-status"
CHECK_LABEL = PREFIX + "deep-health-check-status"
ZONE_LABEL = "topology.kubernetes.io/zone"
ACCELERATORS = ("nvidia.com/gpu", "aws.amazon.com/neuron")
CHECKING = "DeepHealthCheckInProgress"
_STARTING_SECONDS = 900.0
"""For as long a machine may run without being Ready before that is a fault."""
_PENDING_WHY = 5


def node_name(instance_id: str) -> str:
    """The Kubernetes name of a HyperPod instance."""
    return f"hyperpod-{instance_id}"


def join(machines: list[Doc], nodes: list[Doc], now: float) -> list[NodeView]:
    """One view per machine of ListClusterNodes, with its Kubernetes node where it has joined. `now` is epoch seconds."""
    by_name = {n["metadata"]["name"]: n for n in nodes}
    return [_view(m, by_name.get(node_name(m["InstanceId"])), now) for m in machines]


def counts(views: list[NodeView], wanted: int) -> NodeCounts:
    """Nodes in numbers; `wanted` is the sum of the groups' targets."""
    staying = sum(v.health != "leaving" for v in views)
    by_health = Counter(str(v.health) for v in views)
    if wanted > staying:
        by_health["missing"] = wanted - staying
    return NodeCounts(
        total=max(wanted, len(views)), ready=sum(v.ready for v in views), by_health=dict(sorted(by_health.items()))
    )


def gpus(nodes: list[Doc], pods: list[Doc]) -> GpuCounts:
    """Accelerators of all nodes against what pods ask for."""
    total = sum(accelerators_of(n) for n in nodes)
    used = pending = 0
    why: list[str] = []
    for pod in pods:
        asked = asked_by(pod)
        phase = (pod.get("status") or {}).get("phase")
        if not asked or phase in ("Succeeded", "Failed"):
            continue
        if (pod.get("spec") or {}).get("nodeName"):
            used += asked
        else:
            pending += asked
            why += [r for r in [unscheduled_reason(pod)] if r]
    reasons = [text for text, _ in Counter(why).most_common(_PENDING_WHY)]
    return GpuCounts(total=total, used=used, free=max(total - used, 0), pending=pending, pending_why=reasons)


def accelerators_of(node: Doc) -> int:
    """Accelerators that pods can ask a node for."""
    allocatable = (node.get("status") or {}).get("allocatable") or {}
    return sum(int(allocatable.get(name, 0)) for name in ACCELERATORS)


def asked_by(pod: Doc) -> int:
    """Accelerators that a pod asks for: its containers together, or its largest init container."""
    spec = pod.get("spec") or {}
    main = sum(_asked(c) for c in spec.get("containers") or [])
    return max([main, *(_asked(c) for c in spec.get("initContainers") or [])])


def unscheduled_reason(pod: Doc) -> str | None:
    """Why the scheduler has not placed a pod, in its own words."""
    for condition in (pod.get("status") or {}).get("conditions") or []:
        if condition.get("type") == "PodScheduled" and condition.get("status") == "False":
            return str(condition.get("message") or condition.get("reason") or "") or None
    return None


def is_ready(node: Doc) -> bool:
    """Whether Kubernetes says Ready."""
    return any(c.get("type") == "Ready" and c.get("status") == "True" for c in _conditions(node))


def ready_in(nodes: Iterable[Doc], group: str) -> list[str]:
    """Names of a group's nodes that are Ready and take ordinary pods."""
    return [
        n["metadata"]["name"]
        for n in nodes
        if (n["metadata"].get("labels") or {}).get(GROUP_LABEL) == group and schedulable(n)
    ]


def _view(machine: Doc, node: Doc | None, now: float) -> NodeView:
    status = machine["InstanceStatus"]
    launched = machine.get("LaunchTime")
    labels = (node["metadata"].get("labels") or {}) if node else {}
    health = _health(status["Status"], node, labels, now - _epoch(launched, now))
    return NodeView(
        name=node_name(machine["InstanceId"]) if node else machine["InstanceId"],
        instance_id=machine["InstanceId"],
        group=machine["InstanceGroupName"],
        instance_type=machine["InstanceType"],
        zone=labels.get(ZONE_LABEL),
        status=status["Status"],
        health=health,
        ready=node is not None and is_ready(node),
        schedulable=node is not None and schedulable(node),
        gpus=accelerators_of(node) if node else 0,
        message=_message(status, node, health),
        launched_at=launched,
    )


def _health(status: str, node: Doc | None, labels: dict[str, str], age: float) -> NodeHealth:
    """HyperPod's status first: its message stays after recovery."""
    if status in ("ShuttingDown", "NotFound", "DetachInProgress"):
        return "leaving"
    if status == "Failure":
        return "unhealthy"
    if status == CHECKING or labels.get(CHECK_LABEL) == "InProgress":
        return "checking"
    if status == "SystemUpdating":
        return "updating"
    if labels.get(HEALTH_LABEL, "Schedulable") != "Schedulable":
        return "unhealthy"
    if status == "Running" and node is not None and is_ready(node):
        return "healthy"
    return "starting" if status != "Running" or age < _STARTING_SECONDS else "unhealthy"


def _message(status: Doc, node: Doc | None, health: NodeHealth) -> str | None:
    if health in ("healthy", "checking"):
        return None
    if status["Status"] != "Running":
        return str(status["Message"]) if status.get("Message") else None
    if node is None:
        return "The machine runs, but has not joined the EKS cluster."
    said = [c.get("message") for c in _conditions(node) if c.get("type") == "Ready" and c.get("status") != "True"]
    label = (node["metadata"].get("labels") or {}).get(PREFIX + "fault-reasons")
    return next((str(text) for text in [label, *said] if text), None)


def _conditions(node: Doc) -> list[Doc]:
    return list((node.get("status") or {}).get("conditions") or [])


def _asked(container: Doc) -> int:
    resources = container.get("resources") or {}
    asked = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
    return sum(int(asked.get(name, 0)) for name in ACCELERATORS)


def _epoch(at: Any, default: float) -> float:
    return at.timestamp() if isinstance(at, datetime) else default
