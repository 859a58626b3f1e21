"""Reads a cluster's dependencies: add-ons from EKS, releases and workloads from the cluster itself."""

from __future__ import annotations

import asyncio
from typing import Any, Literal

from instantstart.addons import rules
from instantstart.addons.schema import DependencyReport, DependencyView, Health
from instantstart.aws import eks
from instantstart.kube.errors import KubeProblem
from instantstart.kube.releases import Release
from instantstart.operations.services import Services

Doc = dict[str, Any]


async def observe(services: Services, eks_cluster: str) -> DependencyReport:
    """Every dependency of the cluster with owner, version and health. Raises AwsProblem; without an answer from the
    API server the chart is shown as unknown."""
    names = list(dict.fromkeys([*rules.TABLE, *await eks.list_addons(services.aws, eks_cluster)]))
    addons = await asyncio.gather(*(eks.describe_addon(services.aws, eks_cluster, n) for n in names))
    try:
        nodes = await count_schedulable(services, eks_cluster)
        chart = await _chart(services, eks_cluster)
    except KubeProblem as error:
        nodes, chart = 0, _chart_view("missing", message=error.problem.detail)
    items = [_addon(n, a, nodes) for n, a in zip(names, addons, strict=True)]
    items.append(chart)
    required = [i for i in items if i.required]
    return DependencyReport(
        eks_cluster=eks_cluster,
        ready=all(i.health == "healthy" for i in required),
        waiting_for_nodes=any(i.health == "waiting_for_nodes" for i in required),
        schedulable_nodes=nodes,
        items=items,
    )


async def count_schedulable(services: Services, eks_cluster: str) -> int:
    """How many nodes take ordinary pods now. Raises KubeProblem."""
    kube = await services.kube.get(eks_cluster)
    return sum(1 for node in await kube.list("nodes") if rules.schedulable(node))


async def find_release(services: Services, eks_cluster: str) -> Release | None:
    """The release of HyperPod's chart, ours before another's, whatever its name. Raises KubeProblem."""
    found = [
        r
        for r in await services.helm.list(eks_cluster)
        if r.chart == rules.CHART_NAME or (r.namespace, r.name) == (rules.CHART_NAMESPACE, rules.CHART)
    ]
    return next(iter(sorted(found, key=lambda r: not r.ours)), None)


async def unready_workloads(services: Services, eks_cluster: str, release: Release) -> list[str]:
    """What the chart's Deployments and DaemonSets still lack, in words. Raises KubeProblem."""
    kube = await services.kube.get(eks_cluster)
    workloads = [w for kind in ("deployments.apps", "daemonsets.apps") for w in await kube.list(kind)]
    mine = [w for w in workloads if rules.of_release(w, release.namespace, release.name)]
    return [said for w in mine if (said := rules.unready(w))]


def _addon(name: str, addon: Doc | None, nodes: int) -> DependencyView:
    known = rules.TABLE.get(name)
    owner: Literal["instantstart", "other"] | None = None
    if addon is not None:
        owner = "instantstart" if rules.is_ours(addon) else "other"
    return DependencyView(
        name=name,
        kind="addon",
        title=known.title if known else name,
        needed_for=known.needed_for if known else "something of somebody else",
        required=known is not None,
        owner=owner,
        version=addon["addonVersion"] if addon else None,
        status=addon["status"] if addon else None,
        health=rules.health(addon, schedulable_nodes=nodes) if addon else "missing",
        message=rules.says(addon) if addon else None,
    )


async def _chart(services: Services, eks_cluster: str) -> DependencyView:
    release = await find_release(services, eks_cluster)
    if release is None:
        return _chart_view("missing")
    if release.status != "deployed":
        return _chart_view("changing" if release.pending else "failed", release, release.description)
    lacking = await unready_workloads(services, eks_cluster, release)
    nodes = await count_schedulable(services, eks_cluster) if lacking else 0
    health: Health = "healthy" if not lacking else "degraded" if nodes else "waiting_for_nodes"
    return _chart_view(health, release, "; ".join(lacking[:5]) or None)


def _chart_view(health: Health, release: Release | None = None, message: str | None = None) -> DependencyView:
    return DependencyView(
        name=rules.CHART,
        kind="chart",
        title="HyperPod dependency chart",
        needed_for="device plugins, health monitoring, node recovery",
        required=True,
        owner=None if release is None else "instantstart" if release.ours else "other",
        version=f"{release.chart_version} ({release.labels.get('instantstart.dev/chart', 'unknown content')[:12]})"
        if release
        else None,
        status=release.status if release else None,
        health=health,
        message=message,
    )
