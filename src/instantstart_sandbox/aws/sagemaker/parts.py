"""What all parts of SageMaker HyperPod share: neighbours, documents, errors, lookups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

from instantstart_sandbox.aws.errors import AwsError
from instantstart_sandbox.aws.outside import Outside
from instantstart_sandbox.kube.objects import KubeApi
from instantstart_sandbox.world import World

Doc = dict[str, Any]
CLUSTER, NODE, EVENT = "sagemaker.cluster", "sagemaker.node", "sagemaker.event"
LIVE = ("Pending", "Running", "SystemUpdating", "DeepHealthCheckInProgress", "Failure")
"""Node states that hold a place in their group (a failed node holds it until it is replaced)."""


@dataclass
class Parts:
    """The neighbours, and the documents by the names that AWS's calls use."""

    world: World
    outside: Outside
    kube: KubeApi

    def arn(self, kind: str, name: str) -> str:
        """ARN of a SageMaker object."""
        account = self.world.account
        return f"arn:aws:sagemaker:{account.region}:{account.account_id}:{kind}/{name}"

    def between(self, least: float, most: float) -> float:
        """Seconds within a range, from the world's dice."""
        return least + (most - least) * self.world.ids.random()

    def find(self, name_or_arn: str) -> Doc | None:
        """A cluster's document by name or ARN."""
        if not name_or_arn.startswith("arn:"):
            return self.world.store.get(CLUSTER, name_or_arn)
        return next((d for d in self.world.store.list(CLUSTER) if d["ClusterArn"] == name_or_arn), None)

    def cluster(self, name_or_arn: str) -> Doc:
        """The same; ResourceNotFound when there is none."""
        found = self.find(name_or_arn)
        if found is None:
            shown = name_or_arn if name_or_arn.startswith("arn:") else self.arn("cluster", name_or_arn)
            refuse("ResourceNotFound", f"Cluster with name {shown.rpartition('/')[2]} could not be found.")
        return found

    def save(self, cluster: Doc) -> Doc:
        """Keep a changed cluster."""
        return self.world.store.put(CLUSTER, cluster["ClusterName"], cluster)

    def nodes(self, cluster: str, group: str | None = None) -> list[Doc]:
        """Node documents of a cluster or of one of its groups, oldest first."""
        found = self.world.store.list(NODE, f"{cluster}/")
        chosen = [n for n in found if group in (None, n["group"])]
        return sorted(chosen, key=lambda n: (n["launched"], n["instance_id"]))

    def save_node(self, node: Doc) -> Doc:
        """Keep a changed node."""
        return self.world.store.put(NODE, f"{node['cluster']}/{node['instance_id']}", node)


def live(nodes: list[Doc]) -> list[Doc]:
    """Nodes that hold a place in their group."""
    return [n for n in nodes if n["status"] in LIVE]


def is_continuous(cluster: Doc) -> bool:
    """Whether nodes come one by one, rather than all or none."""
    return cluster.get("NodeProvisioningMode") == "Continuous"


def with_group(cluster: Doc, name: str, **changes: Any) -> Doc:
    """A copy of the cluster in which one group is changed."""
    groups = {**cluster["groups"], name: {**cluster["groups"][name], **changes}}
    return {**cluster, "groups": groups}


def refuse(code: str, text: str) -> NoReturn:
    """Raise an error of SageMaker (always HTTP 400)."""
    raise AwsError(code, text, 400)


def invalid(text: str) -> NoReturn:
    """Raise a ValidationException."""
    refuse("ValidationException", text)
