"""A HyperPod node as Kubernetes shows it: name, labels, taints, capacity, conditions; pure functions of what is known."""

from __future__ import annotations

import hashlib
from typing import Any

from instantstart_sandbox.controllers.sizes import Size, size_of

Obj = dict[str, Any]
PREFIX = "sagemaker.amazonaws.com/"
HEALTH = PREFIX + "node-health-status"
DEEP_CHECK = PREFIX + "deep-health-check-status"
NOT_READY = "node.kubernetes.io/not-ready"
UNREACHABLE = "node.kubernetes.io/unreachable"
LIFECYCLE_TAINTS = (NOT_READY, UNREACHABLE)
_EVICTION_MIB = 100
_CNI_MISSING = (
    "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady "
    "message:Network plugin returns error: cni plugin not initialized"
)
_LOST = "Kubelet stopped posting node status."


def node_name(instance_id: str) -> str:
    """The Kubernetes name of a HyperPod instance."""
    return f"hyperpod-{instance_id}"


def provider_id(doc: Obj, cluster_arn: str) -> str:
    """`aws:///<zone id>/sagemaker/cluster/hyperpod-<12 characters>-<instance id>`."""
    return f"aws:///{doc['zone_id']}/sagemaker/cluster/hyperpod-{cluster_arn.rpartition('/')[2]}-{doc['instance_id']}"


def labels(doc: Obj, region: str) -> dict[str, str]:
    """All labels; the group's own do not override those of HyperPod and the kubelet."""
    size = size_of(doc["instance_type"])
    found = {
        "beta.kubernetes.io/arch": size.arch,
        "beta.kubernetes.io/instance-type": doc["instance_type"],
        "beta.kubernetes.io/os": "linux",
        "failure-domain.beta.kubernetes.io/region": region,
        "failure-domain.beta.kubernetes.io/zone": doc["zone"],
        "kubernetes.io/arch": size.arch,
        "kubernetes.io/hostname": node_name(doc["instance_id"]),
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": doc["instance_type"],
        PREFIX + "cluster-name": doc["cluster"],
        PREFIX + "compute-type": "hyperpod",
        PREFIX + "instance-group-name": doc["group"],
        HEALTH: "Unschedulable" if doc.get("deep_checks_pending") else "Schedulable",
        "topology.k8s.aws/zone-id": doc["zone_id"],
        "topology.kubernetes.io/region": region,
        "topology.kubernetes.io/zone": doc["zone"],
    }
    if doc.get("deep_checks_pending"):
        found[DEEP_CHECK] = "InProgress"
    elif doc.get("deep_check_status"):
        found[DEEP_CHECK] = str(doc["deep_check_status"])
    if size.gpus >= 8 or size.neurons >= 16:
        found |= _layers(doc)
    own = (doc.get("kubernetes_config") or {}).get("labels") or {}
    return {**own, **found}


def _layers(doc: Obj) -> dict[str, str]:
    """Three layers of network nodes: 64 machines under the lowest, all of a zone under the highest."""
    draw = hashlib.sha256(doc["instance_id"].encode()).digest()
    zone = hashlib.sha256(doc["zone_id"].encode()).hexdigest()[:16]
    middle = hashlib.sha256(f"{zone}{draw[0] % 2}".encode()).hexdigest()[:16]
    low = hashlib.sha256(f"{middle}{draw[1] % 4}".encode()).hexdigest()[:16]
    prefix = "topology.k8s.aws/network-node-layer-"
    return {prefix + "1": f"nn-0{zone}", prefix + "2": f"nn-0{middle}", prefix + "3": f"nn-0{low}"}


def group_taints(doc: Obj) -> list[Obj]:
    """The group's taints and the one of deep health checks."""
    found = [
        {k.lower(): v for k, v in taint.items() if v not in (None, "")}
        for taint in (doc.get("kubernetes_config") or {}).get("taints") or []
    ]
    if doc.get("deep_checks_pending"):
        found.append({"key": HEALTH, "value": "Unschedulable", "effect": "NoSchedule"})
    return found


def lifecycle_taints(ready: bool, lost: bool, cordoned: bool, now: str) -> list[Obj]:
    """The taints that stand for conditions."""
    found: list[Obj] = []
    if lost:
        found += [
            {"key": UNREACHABLE, "effect": "NoSchedule", "timeAdded": now},
            {"key": UNREACHABLE, "effect": "NoExecute", "timeAdded": now},
        ]
    elif not ready:
        found += [
            {"key": NOT_READY, "effect": "NoSchedule"},
            {"key": NOT_READY, "effect": "NoExecute", "timeAdded": now},
        ]
    if cordoned:
        found.append({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule", "timeAdded": now})
    return found


def capacity(size: Size, devices: dict[str, int]) -> tuple[Obj, Obj]:
    """(capacity, allocatable) with the devices that plugins have announced."""
    whole = {
        "cpu": str(size.cpus),
        "ephemeral-storage": "104779756Ki",
        "hugepages-1Gi": "0",
        "hugepages-2Mi": "0",
        "memory": f"{size.memory_mib * 1024 * 97 // 100}Ki",
        "pods": str(size.max_pods),
    }
    reserved_mib = 255 + 11 * size.max_pods + _EVICTION_MIB
    left = {
        **whole,
        "cpu": f"{size.cpus * 1000 - _reserved_cpu(size.cpus)}m",
        "ephemeral-storage": "95491281146",
        "memory": f"{size.memory_mib * 1024 * 97 // 100 - reserved_mib * 1024}Ki",
    }
    for name, count in devices.items():
        whole[name] = left[name] = str(count)
    return whole, left


def _reserved_cpu(cpus: int) -> int:
    """Millicores that the kubelet keeps: 6 % of the first, 1 % of the second, 0.5 % of two more, 0.25 % of the rest."""
    return 60 + (10 if cpus > 1 else 0) + 5 * min(2, max(0, cpus - 2)) + int(2.5 * max(0, cpus - 4))


def node_info(size: Size, version: str, instance_id: str) -> Obj:
    """status.nodeInfo of a HyperPod machine image."""
    mark = hashlib.sha256(instance_id.encode()).hexdigest()
    return {
        "architecture": size.arch,
        "bootID": f"{mark[:8]}-{mark[8:12]}-{mark[12:16]}-{mark[16:20]}-{mark[20:32]}",
        "containerRuntimeVersion": "containerd://2.1.4",
        "kernelVersion": "6.1.148-173.267.amzn2023." + ("aarch64" if size.arch == "arm64" else "x86_64"),
        "kubeProxyVersion": "",
        "kubeletVersion": f"v{version}.1-eks-113cf36",
        "machineID": f"ec2{mark[:29]}",
        "operatingSystem": "linux",
        "osImage": "Amazon Linux 2023.8.20250915",
        "systemUUID": f"ec2{mark[:5]}-{mark[5:9]}-{mark[9:13]}-{mark[13:17]}-{mark[17:29]}",
    }


def conditions(old: list[Obj], ready: bool, lost: bool, now: str) -> list[Obj]:
    """The four conditions of the kubelet; times move only when a status changes."""
    quiet = (
        ("MemoryPressure", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
        ("DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
        ("PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    )
    wanted: list[tuple[str, str, str, str]] = [
        (name, "Unknown", "NodeStatusUnknown", _LOST) if lost else (name, "False", why, text)
        for name, why, text in quiet
    ]
    if lost:
        wanted.append(("Ready", "Unknown", "NodeStatusUnknown", _LOST))
    elif ready:
        wanted.append(("Ready", "True", "KubeletReady", "kubelet is posting ready status"))
    else:
        wanted.append(("Ready", "False", "KubeletNotReady", _CNI_MISSING))
    former = {c["type"]: c for c in old}
    found = []
    for name, status, why, text in wanted:
        was = former.pop(name, None)
        same = was is not None and was["status"] == status
        found.append(
            {
                "type": name,
                "status": status,
                "lastHeartbeatTime": was["lastHeartbeatTime"] if was is not None and same else now,
                "lastTransitionTime": was["lastTransitionTime"] if was is not None and same else now,
                "reason": why,
                "message": text,
            }
        )
    return [*former.values(), *found]
