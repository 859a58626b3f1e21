"""Kubernetes objects that hold AWS objects outside the cluster, and would leave them behind when it goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from instantstart.kube.client import Kube

Doc = dict[str, Any]
_INFERENCE, _KARPENTER = "inference.sagemaker.aws.amazon.com", "karpenter.sagemaker.amazonaws.com"
_RESOURCES = (
    f"inferenceendpointconfigs.{_INFERENCE}",
    f"jumpstartmodels.{_INFERENCE}",
    "ingresses.networking.k8s.io",
    "services",
    "nodepools.karpenter.sh",
    f"hyperpodnodeclasses.{_KARPENTER}",
)
_KINDS = {
    _RESOURCES[0]: "InferenceEndpointConfig",
    _RESOURCES[1]: "JumpStartModel",
    "ingresses.networking.k8s.io": "Ingress",
    "services": "Service",
    "nodepools.karpenter.sh": "NodePool",
    _RESOURCES[5]: "HyperpodNodeClass",
}


@dataclass(frozen=True)
class Held:
    """One such object."""

    resource: str
    kind: str
    name: str
    namespace: str | None
    leaving: bool

    @property
    def shown(self) -> str:
        """`Service default/web`."""
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"


async def held_objects(kube: Kube) -> list[Held]:
    """All of them; of Services only those of type LoadBalancer. Raises KubeProblem."""
    found: list[Held] = []
    for resource in _RESOURCES:
        for obj in await kube.list(resource):
            if resource == "services" and (obj.get("spec") or {}).get("type") != "LoadBalancer":
                continue
            found.append(_held(resource, obj["metadata"]))
    return found


def _held(resource: str, metadata: Doc) -> Held:
    leaving = "deletionTimestamp" in metadata
    return Held(resource, _KINDS[resource], metadata["name"], metadata.get("namespace"), leaving)
