"""What speaks against a request, from the two halves that stand under its tag. Pure; each finding with its field."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from instantstart.clusters.choices import HYPERPOD_KUBERNETES
from instantstart.core import names
from instantstart.core.plan import Finding, Severity
from instantstart.instance_groups import rules as groups
from instantstart.instance_groups.rules import GroupWish

Doc = dict[str, Any]
EXISTS_ONLY = frozenset({"unknown_instance_type", "unknown_zone", "interface_mode_without_efa", "plan_missing"})
"""Findings about capacity that still hold when the nodes are there already."""


@dataclass(frozen=True)
class Standing:
    """Both halves under a tag, as AWS describes them; None when they are not there."""

    tag: str
    eks: Doc | None = None
    hyperpod: Doc | None = None
    hyperpod_tags: dict[str, str] = field(default_factory=dict)
    hyperpod_zone: str | None = None
    """Zone name of its group's subnet."""
    bucket: str | None = None
    """The bucket on record."""

    @property
    def owns_eks(self) -> bool:
        """Whether the EKS cluster is there and ours."""
        return self.eks is not None and (self.eks.get("tags") or {}).get(names.OWNER_TAG) == self.tag

    @property
    def owns_hyperpod(self) -> bool:
        """Whether the HyperPod cluster is there and ours."""
        return self.hyperpod is not None and self.hyperpod_tags.get(names.OWNER_TAG) == self.tag

    @property
    def has_nodes(self) -> bool:
        """Whether a HyperPod cluster of ours is there that is not dead."""
        return self.owns_hyperpod and self.hyperpod is not None and self.hyperpod["ClusterStatus"] != "Failed"


def version_findings(version: str | None) -> list[Finding]:
    """Whether HyperPod takes a Kubernetes version."""
    if version is None or version in HYPERPOD_KUBERNETES:
        return []
    known = f"{HYPERPOD_KUBERNETES[0]} to {HYPERPOD_KUBERNETES[-1]}"
    detail = f"HyperPod does not take Kubernetes {version}; it takes {known}."
    return [_finding("kubernetes_version_unsupported", "/kubernetes_version", detail, f"Ask for one of {known}.")]


def eks_findings(standing: Standing, *, version: str | None) -> list[Finding]:
    """What the EKS half under this tag means for the request; `version` as it was asked for."""
    eks = standing.eks
    if eks is None:
        return []
    name = eks["name"]
    if not standing.owns_eks:
        detail = f"An EKS cluster named {name} exists that InstantStart did not make for this tag."
        return [_finding("tag_in_use", "/tag", detail, "Choose another tag.", cluster=eks["arn"])]
    found = []
    if eks["status"] == "FAILED":
        detail = f"EKS cluster {name} of an earlier attempt is FAILED. The creation stops there and asks to remove it."
        found.append(_finding("eks_dead", "/tag", detail, "Retry with accept when asked.", severity="warning"))
    elif version is not None and eks.get("version") not in (None, version):
        detail = f"EKS cluster {name} stands with Kubernetes {eks['version']}; {version} is asked for."
        found.append(_finding("tag_in_use", "/kubernetes_version", detail, _SAME))
    if (eks.get("accessConfig") or {}).get("authenticationMode") == "CONFIG_MAP":
        detail = f"EKS cluster {name} lets nobody in by access entries (authentication mode CONFIG_MAP)."
        remedy = f"aws eks update-cluster-config --name {name} --access-config authenticationMode=API_AND_CONFIG_MAP"
        found.append(_finding("authentication_mode", "/tag", detail, remedy))
    return found


def hyperpod_findings(standing: Standing, *, group: GroupWish | None, zone: str | None) -> list[Finding]:
    """What the HyperPod half under this tag means for the request; None for what could not be read of it."""
    cluster = standing.hyperpod
    if cluster is None:
        return []
    name = cluster["ClusterName"]
    if not standing.owns_hyperpod:
        detail = f"A HyperPod cluster named {name} exists that InstantStart did not make for this tag."
        return [_finding("tag_in_use", "/tag", detail, "Choose another tag.", cluster=cluster["ClusterArn"])]
    if cluster["ClusterStatus"] == "Failed":
        detail = (
            f"HyperPod cluster {name} of an earlier attempt is Failed. The creation stops there, asks to remove it."
        )
        return [_finding("hyperpod_dead", "/tag", detail, "Retry with accept when asked.", severity="warning")]
    if group is None:
        return []
    live = next((g for g in cluster["InstanceGroups"] if g["InstanceGroupName"] == group.name), None)
    if live is None:
        detail = f"HyperPod cluster {name} stands without a group {group.name}."
        return [_finding("tag_in_use", "/tag", detail, _SAME)]
    found = [
        _finding("tag_in_use", f"/{part}", f"{name} stands with {part} {now}; {asked} is asked for.", _SAME, live=now)
        for part, (now, asked) in groups.differences(live, group).items()
    ]
    if zone and standing.hyperpod_zone and zone != standing.hyperpod_zone:
        detail = f"The nodes of {name} are in {standing.hyperpod_zone}; {zone} is asked for."
        found.append(_finding("tag_in_use", "/availability_zone", detail, _SAME, live=standing.hyperpod_zone))
    return found


def bucket_conflict(standing: Standing, asked: str | None, claimed: str | None) -> list[Finding]:
    """Whether the cluster stands with another bucket: on record, or behind its claim."""
    used = claimed or standing.bucket
    if asked is None or used is None or asked == used:
        return []
    if claimed is None and not standing.has_nodes:
        return []
    detail = f"Cluster {standing.tag} stands with bucket {used}; {asked} is asked for."
    return [_finding("tag_in_use", "/bucket", detail, _SAME, live=used)]


def incomplete(standing: Standing, *, network_stands: bool) -> list[Finding]:
    """Whether the half that HyperPod and storage build on is there: network and an ACTIVE EKS cluster of ours."""
    found, name = [], names.eks_cluster(standing.tag)
    status = standing.eks["status"] if standing.eks and standing.owns_eks else "not there"
    if status not in ("ACTIVE", "UPDATING"):
        found.append(_finding("cluster_incomplete", "", f"EKS cluster {name} is {status}.", _FINISH))
    if not network_stands:
        detail = f"The network stack {names.network_stack(standing.tag)} does not stand."
        found.append(_finding("cluster_incomplete", "", detail, _FINISH))
    return found


def without_dependencies(standing: Standing, missing: list[str]) -> list[Finding]:
    """HyperPod's agents come with the dependencies, so those must be in before."""
    if not missing or standing.has_nodes:
        return []
    detail = f"Not installed on {names.eks_cluster(standing.tag)}: {', '.join(missing)}."
    return [_finding("cluster_incomplete", "", detail, "Run cluster_configure_dependencies first.")]


def rights_missing(standing: Standing, bucket: str, *, needs_rights: bool) -> list[Finding]:
    """A bucket whose name the managed policy does not cover must have been named when the roles were made."""
    if not needs_rights or standing.bucket == bucket:
        return []
    detail = f"The nodes' role of {standing.tag} may not read {bucket}: it was made without that bucket."
    return [_finding("bucket_without_rights", "/bucket", detail, "Take a bucket called sagemaker-…, or none.")]


def relevant(found: list[Finding], standing: Standing) -> list[Finding]:
    """Findings about capacity and space, without those that nodes which stand have got past."""
    if not standing.has_nodes:
        return found
    return [f for f in found if f.code in EXISTS_ONLY or f.severity != "blocking" or f.code == "tag_in_use"]


def reached(cluster: Doc, group: GroupWish) -> bool:
    """Whether HyperPod is in service with everything that is asked of the group."""
    live = next((g for g in cluster["InstanceGroups"] if g["InstanceGroupName"] == group.name), None)
    if cluster["ClusterStatus"] != "InService" or live is None:
        return False
    return not groups.differences(live, group) and int(live["CurrentCount"]) >= group.count


_SAME = "Ask for exactly what stands, choose another tag, or delete the cluster first."
_FINISH = "Finish its creation first: retry its operation, or send cluster_create again."
_TITLES = {
    "cluster_incomplete": "The cluster lacks what this needs",
    "bucket_without_rights": "The nodes could not read the bucket",
    "kubernetes_version_unsupported": "HyperPod does not take this Kubernetes version",
    "tag_in_use": "The tag is taken",
    "eks_dead": "An earlier attempt left a dead EKS cluster",
    "hyperpod_dead": "An earlier attempt left a dead HyperPod cluster",
    "authentication_mode": "The EKS cluster has the wrong authentication mode",
}


def _finding(
    code: str, pointer: str, detail: str, remedy: str, *, severity: Severity = "blocking", **evidence: Any
) -> Finding:
    return Finding(
        code=code,
        severity=severity,
        title=_TITLES[code],
        detail=detail,
        remedy=remedy,
        field=pointer,
        evidence=evidence,
    )
