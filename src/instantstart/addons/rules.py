"""The add-ons a cluster is made with, how healthy one is, and the values of the HyperPod chart. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from instantstart.addons.schema import Health
from instantstart.core.instances import INSTANCES
from instantstart.core.names import FIELD_MANAGER, MANAGED_BY, OWNER_TAG

Doc = dict[str, Any]
CHART = "hyperpod-dependencies"
"""Row of the chart table, and the name of our release."""
CHART_NAMESPACE = "kube-system"
CHART_NAME = "hyperpod-helm-chart"
"""The chart's own name, by which a release of others is known whatever it is called."""
FEW_REPLICAS = "InsufficientNumberOfReplicas"
DEAD = ("CREATE_FAILED", "DELETE_FAILED")
CHANGING = ("CREATING", "UPDATING", "DELETING")


@dataclass(frozen=True)
class Addon:
    """One EKS add-on of the table."""

    name: str
    title: str
    needed_for: str
    runs_on_nodes: bool
    """Whether it has replicas that need a node: without one it is degraded, which is no fault."""


CORE = (
    Addon("vpc-cni", "VPC CNI", "addresses of pods", False),
    Addon("kube-proxy", "kube-proxy", "services", False),
    Addon("coredns", "CoreDNS", "names in the cluster", True),
    Addon("eks-pod-identity-agent", "Pod Identity agent", "AWS rights of pods", False),
)
DEPENDENCIES = (
    Addon("cert-manager", "cert-manager", "training and inference operators", True),
    Addon("metrics-server", "Metrics Server", "autoscaling, usage figures", True),
)
STORAGE = (Addon("aws-mountpoint-s3-csi-driver", "S3 CSI driver", "the S3 mount", True),)
TABLE: dict[str, Addon] = {a.name: a for a in (*CORE, *DEPENDENCIES, *STORAGE)}


def chart_values(region: str) -> Doc:
    """Values of the HyperPod chart: the region, what comes as add-ons off, type lists from the instance table."""
    gpus = sorted(t for t, f in INSTANCES.items() if f.accelerator == "gpu")
    efa = sorted(t for t, f in INSTANCES.items() if f.efa_interfaces)
    types = {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": gpus}
    affinity = {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [types]}]}
        }
    }
    return {
        "global": {"region": region},
        "cert-manager": {"enabled": False},
        "mlflow": {"enabled": False},
        "nvidia-device-plugin": {"affinity": affinity},
        "aws-efa-k8s-device-plugin": {"supportedInstanceLabels": {"values": efa}},
    }


def default_version(versions: list[Doc], kubernetes_version: str) -> str | None:
    """The default version of an add-on for a Kubernetes version, else the newest compatible one."""
    for version in versions:
        for fit in version.get("compatibilities") or []:
            if fit.get("clusterVersion") == kubernetes_version and fit.get("defaultVersion"):
                return str(version["addonVersion"])
    return str(versions[0]["addonVersion"]) if versions else None


def issues(addon: Doc) -> list[Doc]:
    """What EKS says is wrong with an add-on: `{code, message}`."""
    return list((addon.get("health") or {}).get("issues") or [])


def only_lacks_nodes(addon: Doc) -> bool:
    """Whether too few replicas is all that is wrong."""
    found = issues(addon)
    return bool(found) and all(i.get("code") == FEW_REPLICAS for i in found)


def health(addon: Doc, *, schedulable_nodes: int) -> Health:
    """How an add-on does. Too few replicas is no fault while there is no node to run them."""
    status = addon["status"]
    if status == "ACTIVE":
        return "healthy"
    if status in ("DEGRADED", "CREATING") and only_lacks_nodes(addon) and schedulable_nodes == 0:
        return "waiting_for_nodes"
    if status in CHANGING:
        return "changing"
    return "degraded" if status in ("DEGRADED", "UPDATE_FAILED") else "failed"


def says(addon: Doc) -> str | None:
    """What is wrong with an add-on, in EKS's words."""
    found = [f"{i.get('code')}: {i.get('message')}" for i in issues(addon)]
    return "; ".join(found) or None


def is_ours(addon: Doc, tag: str | None = None) -> bool:
    """Whether the product installed it (for this tag, when one is named)."""
    owner = (addon.get("tags") or {}).get(OWNER_TAG)
    return owner is not None if tag is None else owner == tag


def schedulable(node: Doc) -> bool:
    """Whether a node is Ready, takes pods, and has no taint that keeps ordinary pods away."""
    spec, status = node.get("spec") or {}, node.get("status") or {}
    ready = any(c.get("type") == "Ready" and c.get("status") == "True" for c in status.get("conditions") or [])
    kept_away = any(t.get("effect") in ("NoSchedule", "NoExecute") for t in spec.get("taints") or [])
    return ready and not spec.get("unschedulable") and not kept_away


def of_release(obj: Doc, namespace: str, release: str) -> bool:
    """Whether Helm made this object for a release."""
    notes = obj["metadata"].get("annotations") or {}
    return (
        notes.get("meta.helm.sh/release-name") == release and notes.get("meta.helm.sh/release-namespace") == namespace
    )


def unready(workload: Doc) -> str | None:
    """What a Deployment or DaemonSet still lacks, in words; None when it is ready."""
    metadata, status = workload["metadata"], workload.get("status") or {}
    name = f"{metadata.get('namespace')}/{metadata['name']}"
    if "numberReady" in status or "desiredNumberScheduled" in status:
        ready, wanted = status.get("numberReady", 0), status.get("desiredNumberScheduled", 0)
    else:
        ready, wanted = status.get("availableReplicas", 0), (workload.get("spec") or {}).get("replicas", 1)
    return f"{name} has {ready} of {wanted} pods ready" if ready < wanted else None


def managed_by_us(labels: dict[str, str]) -> bool:
    """Whether labels say that the product made an object."""
    return labels.get(MANAGED_BY) == FIELD_MANAGER
