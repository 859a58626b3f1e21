"""The terminal forms of creations: the stages' calls in an order that works, as a script for one shell. Pure."""

from __future__ import annotations

from instantstart.addons.rules import CORE, DEPENDENCIES, STORAGE
from instantstart.clusters.choices import ControlPlane, Mount, Nodes, Place
from instantstart.clusters.commands import network, parts
from instantstart.clusters.commands.request import Sent
from instantstart.core.plan import TerminalForms
from instantstart.kube.charts import ChartSource
from instantstart.network.facts import NetworkFacts


def control_plane(sent: Sent, plane: ControlPlane, facts: NetworkFacts) -> TerminalForms:
    """cluster_create_eks."""
    return sent.forms().model_copy(update={"aws": _plane(plane, facts), "kubectl": []})


def creation(
    sent: Sent, plane: ControlPlane, nodes: Nodes, mount: Mount, facts: NetworkFacts, chart: ChartSource
) -> TerminalForms:
    """cluster_create. kubectl's part comes after EKS and before HyperPod, so it is named there."""
    tag, place = plane.tag, plane.place
    aws = [
        *_plane(plane, facts),
        *parts.addon_commands(tag, [*DEPENDENCIES, *STORAGE]),
        *parts.kubeconfig(tag),
        *parts.bucket(tag, nodes.bucket),
        *network.subnet(plane, nodes, facts),
        *parts.driver_rights(tag, place, mount),
        *parts.hyperpod_cluster(nodes),
    ]
    kubectl = [
        *parts.chart(place.region, chart),
        *parts.nodes_ready(nodes),
        *parts.mount_objects(tag, place, mount),
    ]
    return sent.forms().model_copy(update={"aws": aws, "kubectl": kubectl})


def hyperpod(sent: Sent, plane: ControlPlane, nodes: Nodes, facts: NetworkFacts) -> TerminalForms:
    """hyperpod_create, on a network and an EKS cluster that stand."""
    aws = [
        *network.outputs(plane.tag),
        *parts.bucket(plane.tag, nodes.bucket),
        *network.subnet(plane, nodes, facts),
        *parts.hyperpod_cluster(nodes),
    ]
    kubectl = [*parts.kubeconfig(plane.tag), *parts.nodes_ready(nodes)]
    return sent.forms().model_copy(update={"aws": aws, "kubectl": kubectl})


def dependencies(sent: Sent, tag: str, place: Place, missing: list[str], chart: ChartSource | None) -> TerminalForms:
    """cluster_configure_dependencies: what is missing of it."""
    wanted = [a for a in (*CORE, *DEPENDENCIES) if a.name in missing]
    kubectl = [*parts.kubeconfig(tag), *parts.chart(place.region, chart)] if chart else []
    return sent.forms().model_copy(update={"aws": parts.addon_commands(tag, wanted), "kubectl": kubectl})


def mounting(sent: Sent, tag: str, place: Place, mount: Mount, *, rights: bool, driver: bool) -> TerminalForms:
    """s3_storage_create; rights and driver only where they are not there yet."""
    aws = [
        *(parts.bucket(tag, mount.bucket)[:-1]),
        *(parts.driver_rights(tag, place, mount) if rights else []),
        *(parts.addon_commands(tag, STORAGE) if driver else []),
    ]
    kubectl = [*parts.kubeconfig(tag), *parts.mount_objects(tag, place, mount)]
    return sent.forms().model_copy(update={"aws": aws, "kubectl": kubectl})


def _plane(plane: ControlPlane, facts: NetworkFacts) -> list[str]:
    return [
        *network.stack(plane, facts),
        *parts.eks_cluster(plane),
        *parts.access(plane.tag, plane.place),
        *parts.oidc_provider(plane.tag),
        *parts.addon_commands(plane.tag, CORE),
    ]
