"""Specs of the cluster stages, one function each, and the consents over dead halves. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from instantstart.core import names
from instantstart.core.plan import Consent, PlannedObject, StageSpec

REQUEST_EKS, AWAIT_EKS = "request_eks_cluster", "await_eks_cluster"
REMOVE_EKS, AWAIT_EKS_REMOVED = "remove_eks_cluster", "await_eks_removed"
SELECT = "select_cluster"
REQUEST_HYPERPOD, AWAIT_HYPERPOD, AWAIT_NODES = "request_hyperpod_cluster", "await_hyperpod_cluster", "await_nodes"
REMOVE_HYPERPOD, AWAIT_HYPERPOD_REMOVED = "remove_hyperpod_cluster", "await_hyperpod_removed"
REMOVE_OBJECTS, REMOVE_NODE_GROUPS, REMOVE_RECORD = (
    "remove_cluster_objects",
    "remove_node_groups",
    "remove_cluster_record",
)
EKS_SECONDS, HYPERPOD_SECONDS, NODES_SECONDS = 600, 240, 600
_CHECK_SECONDS = 75 * 60


def _spec(
    name: str, step: str, title: str, needs: Sequence[str], params: dict[str, Any], seconds: int = 5, **more: Any
) -> StageSpec:
    return StageSpec(
        name=name,
        step=step,
        title=title,
        needs=list(needs),
        definition=name,
        params=params,
        typical_seconds=seconds,
        **more,
    )


def eks_specs(tag: str, *, version: str, facts: dict[str, Any], needs: Sequence[str]) -> list[StageSpec]:
    """request_eks_cluster, await_eks_cluster. `facts` go on record: choices that later changes go by."""
    params = {"tag": tag, "version": version, "facts": facts}
    return [
        _spec(REQUEST_EKS, "eks", "Ask for the EKS control plane", needs, params),
        _spec(AWAIT_EKS, "eks", "EKS control plane", [REQUEST_EKS], params, EKS_SECONDS),
    ]


def select_spec(tag: str, *, needs: Sequence[str] = (AWAIT_EKS,)) -> StageSpec:
    """select_cluster; outputs principal."""
    return _spec(SELECT, "select", "Select the cluster for you", needs, {"tag": tag}, 1)


def hyperpod_specs(tag: str, *, group: dict[str, Any], facts: dict[str, Any], needs: Sequence[str]) -> list[StageSpec]:
    """request_hyperpod_cluster, await_hyperpod_cluster, await_nodes. `group` is a GroupWish as a dict."""
    params = {"tag": tag, "group": group, "facts": facts}
    checked = _CHECK_SECONDS if group["deep_health_checks"] else 0
    return [
        _spec(REQUEST_HYPERPOD, "hyperpod", "Ask for the HyperPod cluster", needs, params),
        _spec(AWAIT_HYPERPOD, "hyperpod", "HyperPod cluster", [REQUEST_HYPERPOD], params, HYPERPOD_SECONDS),
        _spec(
            AWAIT_NODES,
            "hyperpod",
            f"{group['count']} {'node is' if group['count'] == 1 else 'nodes are'} Ready",
            [AWAIT_HYPERPOD],
            params,
            NODES_SECONDS + checked,
        ),
    ]


def eks_removal_specs(tag: str, *, needs: Sequence[str] = (), step: str = "eks") -> list[StageSpec]:
    """remove_eks_cluster, await_eks_removed."""
    params = {"tag": tag}
    return [
        _spec(REMOVE_EKS, step, "Ask for the removal of the EKS cluster", needs, params),
        _spec(AWAIT_EKS_REMOVED, step, "The EKS cluster is gone", [REMOVE_EKS], params, 330),
    ]


def hyperpod_removal_specs(tag: str, *, needs: Sequence[str] = (), step: str = "hyperpod") -> list[StageSpec]:
    """remove_hyperpod_cluster, await_hyperpod_removed."""
    params = {"tag": tag}
    return [
        _spec(REMOVE_HYPERPOD, step, "Ask for the removal of the HyperPod cluster", needs, params),
        _spec(
            AWAIT_HYPERPOD_REMOVED,
            step,
            "The HyperPod cluster is gone",
            [REMOVE_HYPERPOD],
            params,
            240,
            deadline_seconds=3 * 3600,
        ),
    ]


def objects_removal_spec(tag: str) -> StageSpec:
    """remove_cluster_objects: what in the cluster holds AWS objects outside it."""
    title = "Remove load balancers, endpoints and autoscaling objects"
    return _spec(REMOVE_OBJECTS, "hyperpod", title, (), {"tag": tag}, 30, deadline_seconds=30 * 60)


def node_groups_removal_spec(tag: str, *, needs: Sequence[str]) -> StageSpec:
    """remove_node_groups: managed node groups and Fargate profiles, without which EKS does not go."""
    return _spec(REMOVE_NODE_GROUPS, "eks", "Remove node groups and Fargate profiles", needs, {"tag": tag}, 5)


def record_removal_spec(tag: str, *, needs: Sequence[str]) -> StageSpec:
    """remove_cluster_record."""
    return _spec(REMOVE_RECORD, "eks", "Take the cluster off the record", needs, {"tag": tag}, 1)


def eks_consent(tag: str) -> Consent:
    """What a retry over a dead EKS cluster removes first."""
    gone = PlannedObject(kind="AWS::EKS::Cluster", name=names.eks_cluster(tag), action="remove", where="aws")
    return Consent(objects=[gone], stages=eks_removal_specs(tag), rerun=[REQUEST_EKS, AWAIT_EKS])


def hyperpod_consent(tag: str) -> Consent:
    """What a retry over a dead HyperPod cluster removes first."""
    name = names.hyperpod_cluster(tag)
    gone = PlannedObject(kind="AWS::SageMaker::Cluster", name=name, action="remove", where="aws")
    rerun = [REQUEST_HYPERPOD, AWAIT_HYPERPOD, AWAIT_NODES]
    return Consent(objects=[gone], stages=hyperpod_removal_specs(tag), rerun=rerun)
