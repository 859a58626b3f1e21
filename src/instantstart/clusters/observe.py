"""Reads clusters into views: all of them briefly, one of them whole."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from datetime import UTC, datetime
from typing import Any, TypeVar

from instantstart.addons.observe import observe as observe_dependencies
from instantstart.addons.schema import DependencyView
from instantstart.aws import eks, sagemaker
from instantstart.clusters import attention, registry
from instantstart.clusters.identify import BEGINNINGS, Located, begun, eks_arn, is_ours
from instantstart.clusters.schema import ClusterList, ClusterStatus, ClusterSummary, Half
from instantstart.core import names
from instantstart.core.plan import Finding
from instantstart.instance_groups.observe import observe as observe_groups
from instantstart.kube.errors import KubeProblem
from instantstart.nodes import rules as nodes
from instantstart.nodes.observe import observe as observe_fleet
from instantstart.nodes.observe import said
from instantstart.nodes.schema import NodeCounts
from instantstart.operations.engine import Engine
from instantstart.operations.schema import OperationSummary
from instantstart.operations.services import Services
from instantstart.operations.store import ACTIVE
from instantstart.storage.observe import observe as observe_claims
from instantstart.storage.schema import ClaimView

Doc = dict[str, Any]
T = TypeVar("T")


async def list_clusters(services: Services, principal: str) -> ClusterList:
    """Every cluster of the region, managed ones first; what this caller has selected. Raises AwsProblem."""
    entries, rows, found, selected = await asyncio.gather(
        registry.entries(services.db),
        begun(services),
        _halves(services),
        registry.selected(services.db, principal),
    )
    located = _pair(*found, entries)
    known = {item.tag for item in located}
    for tag in {r["cluster"] for r in rows if r["kind"] in BEGINNINGS} - known - {None}:
        located.append(Located(tag, True, None, None))
    located.sort(key=lambda item: (not item.managed, item.tag))
    items = [_summary(services, item, [r for r in rows if r["cluster"] == item.tag]) for item in located]
    return ClusterList(items=items, selected=selected)


async def observe_cluster(services: Services, engine: Engine, found: Located) -> ClusterStatus:
    """One cluster with everything in it. Raises AwsProblem; a silent API server is among what needs attention."""
    alive = found.eks_name if found.eks and found.eks["status"] in ("ACTIVE", "UPDATING") else None
    fleet, groups, (dependencies, unseen), claims, operations, rows = await asyncio.gather(
        observe_fleet(services, eks_cluster=alive, hyperpod_cluster=found.hyperpod_name),
        observe_groups(services, found.hyperpod),
        _dependencies(services, alive),
        _claims(services, alive),
        _operations(engine, found.tag),
        begun(services),
    )
    mine = [r for r in rows if r["cluster"] == found.tag]
    settled = not operations
    wanted = sum(g.target for g in groups)
    summary = _summary(services, found, [])
    messages = {o.id: o.attention for o in operations}
    needs = [
        *attention.of_operations(mine, messages),
        *summary.attention,
        *attention.of_nodes(fleet.nodes, groups, settled=settled),
        *attention.of_parts(dependencies, claims, settled=settled and unseen is None),
        *attention.of_silence(fleet.unseen or unseen),
    ]
    status = summary.model_dump() | {
        "nodes": nodes.counts(fleet.nodes, wanted) if found.hyperpod else None,
        "gpus": fleet.gpus,
        "groups": groups,
        "dependencies": dependencies,
        "storage": claims,
        "operations": operations,
        "attention": needs,
    }
    return ClusterStatus(**status)


async def _halves(services: Services) -> tuple[list[Doc], list[Doc]]:
    """Every EKS and every HyperPod cluster, described."""
    aws = services.aws
    eks_names, hyperpods, entries = await asyncio.gather(
        eks.list_clusters(aws), sagemaker.list_clusters(aws), registry.entries(services.db)
    )
    wanted = list(dict.fromkeys([*eks_names, *(e.eks_name for e in entries.values())]))
    both = await asyncio.gather(
        asyncio.gather(*(eks.describe_cluster(aws, n) for n in wanted)),
        asyncio.gather(*(sagemaker.describe_cluster(aws, h["ClusterName"]) for h in hyperpods)),
    )
    return [e for e in both[0] if e], [h for h in both[1] if h]


def _pair(eks_docs: list[Doc], hyperpods: list[Doc], entries: dict[str, registry.Entry]) -> list[Located]:
    """Both halves of each cluster together; halves that stand alone by themselves."""
    by_arn = {eks_arn(h): h for h in hyperpods}
    found = []
    for doc in eks_docs:
        ours = is_ours(doc)
        tag = str(names.tag_of(doc["name"])) if ours else str(doc["name"])
        found.append(Located(tag, ours, doc, by_arn.pop(doc["arn"], None), entries.get(tag) if ours else None))
    known = {f.tag for f in found}
    for tag, entry in entries.items():
        if tag not in known:
            alone = next((h for h in by_arn.values() if h["ClusterName"] == entry.hyperpod_name), None)
            found.append(Located(tag, True, None, alone, entry))
    return found


def _summary(services: Services, found: Located, rows: list[Doc]) -> ClusterSummary:
    groups = (found.hyperpod or {}).get("InstanceGroups") or []
    counts = None
    if found.hyperpod:
        total, here = sum(g["TargetCount"] for g in groups), sum(g["CurrentCount"] for g in groups)
        counts = NodeCounts(total=max(total, here), ready=here)
    active = [r for r in rows if r["state"] in ACTIVE]
    needs: list[Finding] = [
        *attention.of_operations([r for r in rows if r not in active]),
        *attention.of_halves(found.eks, found.hyperpod),
    ]
    return ClusterSummary(
        tag=found.tag,
        region=services.aws.region,
        managed=found.managed,
        eks=_eks_half(found.eks),
        hyperpod=_hyperpod_half(found.hyperpod),
        nodes=counts,
        attention=needs,
        created_at=_created(found),
    )


def _eks_half(doc: Doc | None) -> Half | None:
    if doc is None:
        return None
    issues = (doc.get("health") or {}).get("issues") or []
    message = "; ".join(f"{i.get('code')}: {i.get('message')}" for i in issues) or None
    return Half(name=doc["name"], status=doc["status"], version=doc.get("version"), arn=doc["arn"], message=message)


def _hyperpod_half(doc: Doc | None) -> Half | None:
    if doc is None:
        return None
    return Half(
        name=doc["ClusterName"],
        status=doc["ClusterStatus"],
        arn=doc["ClusterArn"],
        message=doc.get("FailureMessage"),
    )


def _created(found: Located) -> datetime | None:
    if found.eks and isinstance(found.eks.get("createdAt"), datetime):
        at: datetime = found.eks["createdAt"]
        return at
    return datetime.fromtimestamp(found.entry.created_at, UTC) if found.entry else None


async def _dependencies(services: Services, cluster: str | None) -> tuple[list[DependencyView], str | None]:
    if cluster is None:
        return [], None
    found = await _seen(observe_dependencies(services, cluster))
    return ([], found) if isinstance(found, str) else (found.items, None)


async def _claims(services: Services, cluster: str | None) -> list[ClaimView]:
    found = await _seen(observe_claims(services, cluster)) if cluster else []
    return [] if isinstance(found, str) else found


async def _operations(engine: Engine, tag: str) -> list[OperationSummary]:
    page = await engine.page(cluster=tag, limit=50)
    return [o for o in page.items if not o.terminal]


async def _seen(reading: Awaitable[T]) -> T | str:
    """What was read, or why the API server did not answer."""
    try:
        return await reading
    except KubeProblem as error:
        return said(error)
