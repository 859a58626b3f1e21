"""Which cluster a tag means, and what of it stands: asked of AWS, the record and the operations, never of one alone."""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import dataclass
from typing import Any

import orjson

from instantstart.aws import cloudformation, ec2, eks, sagemaker
from instantstart.clusters import registry
from instantstart.clusters.problems import CLUSTER_NOT_FOUND, CLUSTER_NOT_MANAGED
from instantstart.clusters.rules import Standing
from instantstart.core import names
from instantstart.operations import store
from instantstart.operations.services import Services

Doc = dict[str, Any]
BEGINNINGS = ("cluster_create", "cluster_create_eks")
"""Kinds of operations that bring a cluster into being."""


@dataclass(frozen=True)
class Located:
    """One cluster: its tag, or the EKS cluster's name where we did not make it, with both halves as AWS shows them."""

    tag: str
    managed: bool
    eks: Doc | None
    hyperpod: Doc | None
    entry: registry.Entry | None = None

    @property
    def eks_name(self) -> str | None:
        """Name of the EKS cluster that is there."""
        return str(self.eks["name"]) if self.eks else None

    @property
    def hyperpod_name(self) -> str | None:
        """Name of the HyperPod cluster that is there."""
        return str(self.hyperpod["ClusterName"]) if self.hyperpod else None

    @property
    def revision(self) -> str:
        """Changes when the state of a half or the counts of a group do: what If-Match is compared with."""
        groups = [
            [g["InstanceGroupName"], g["Status"], g["CurrentCount"], g["TargetCount"]]
            for g in (self.hyperpod or {}).get("InstanceGroups") or []
        ]
        eks_half = [(self.eks or {}).get(k) for k in ("arn", "status", "version")]
        other = [(self.hyperpod or {}).get(k) for k in ("ClusterArn", "ClusterStatus")]
        return hashlib.sha256(orjson.dumps([eks_half, other, groups])).hexdigest()[:16]


async def locate(services: Services, tag: str) -> Located:
    """The cluster behind a tag. Raises cluster_not_found."""
    found = await _managed(services, tag) if names.is_tag(tag) else None
    found = found or await _discovered(services, tag)
    if found is None:
        raise CLUSTER_NOT_FOUND(f"There is no cluster {tag[:100]}.")
    return found


async def locate_managed(services: Services, tag: str) -> Located:
    """The cluster behind a tag, which must be ours. Raises cluster_not_found, cluster_not_managed."""
    found = await locate(services, tag)
    if not found.managed:
        raise CLUSTER_NOT_MANAGED(f"InstantStart did not make {tag}, so it does not change it.")
    return found


async def standing(services: Services, tag: str) -> Standing:
    """What stands under a tag, whosever it is. Raises AwsProblem."""
    aws = services.aws
    eks_doc, hyperpod, entry = await asyncio.gather(
        eks.describe_cluster(aws, names.eks_cluster(tag)),
        sagemaker.describe_cluster(aws, names.hyperpod_cluster(tag)),
        registry.entry(services.db, tag),
    )
    tags = await sagemaker.tags(aws, hyperpod["ClusterArn"]) if hyperpod else {}
    return Standing(
        tag=tag,
        eks=eks_doc,
        hyperpod=hyperpod,
        hyperpod_tags=tags,
        hyperpod_zone=await _zone(services, hyperpod) if hyperpod else None,
        bucket=entry.facts.get("bucket") if entry else None,
    )


async def begun(services: Services) -> list[Doc]:
    """Rows of operations that have not ended well: active, failed or cancelled, newest first."""
    async with services.db.read() as conn:
        return await store.candidates(conn, None, (*store.ACTIVE, "failed", "cancelled"))


async def _managed(services: Services, tag: str) -> Located | None:
    stands, entry = await asyncio.gather(standing(services, tag), registry.entry(services.db, tag))
    eks_doc = stands.eks if stands.owns_eks else None
    hyperpod = stands.hyperpod if stands.owns_hyperpod else None
    if eks_doc or hyperpod or entry:
        return Located(tag, True, eks_doc, hyperpod, entry)
    if any(r["cluster"] == tag and r["kind"] in BEGINNINGS for r in await begun(services)):
        return Located(tag, True, None, None)
    stack = await cloudformation.describe_stack(services.aws, names.network_stack(tag))
    if stack is not None and cloudformation.tags(stack).get(names.OWNER_TAG) == tag:
        return Located(tag, True, None, None)
    return None


async def _discovered(services: Services, name: str) -> Located | None:
    """A cluster of somebody else, by the name of its EKS cluster."""
    eks_doc = await eks.describe_cluster(services.aws, name) if _is_eks_name(name) else None
    if eks_doc is None or is_ours(eks_doc):
        return None
    for row in await sagemaker.list_clusters(services.aws):
        found = await sagemaker.describe_cluster(services.aws, row["ClusterName"])
        if found and eks_arn(found) == eks_doc["arn"]:
            return Located(name, False, eks_doc, found)
    return Located(name, False, eks_doc, None)


def is_ours(eks_doc: Doc) -> bool:
    """Whether an EKS cluster carries the tag that its name says."""
    tag = names.tag_of(eks_doc["name"])
    return tag is not None and (eks_doc.get("tags") or {}).get(names.OWNER_TAG) == tag


def eks_arn(hyperpod: Doc) -> str | None:
    """ARN of the EKS cluster that a HyperPod cluster is on."""
    found = ((hyperpod.get("Orchestrator") or {}).get("Eks") or {}).get("ClusterArn")
    return str(found) if found else None


def _is_eks_name(name: str) -> bool:
    return 0 < len(name) <= 100 and name.replace("-", "a").replace("_", "a").isalnum() and name.isascii()


async def _zone(services: Services, hyperpod: Doc) -> str | None:
    groups = hyperpod.get("InstanceGroups") or [{}]
    subnets = ((groups[0].get("OverrideVpcConfig") or hyperpod.get("VpcConfig")) or {}).get("Subnets") or []
    found = await ec2.subnet(services.aws, subnets[0]) if subnets else None
    return str(found["AvailabilityZone"]) if found else None
