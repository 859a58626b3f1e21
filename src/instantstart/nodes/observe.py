"""Reads the machines of one cluster from HyperPod and Kubernetes, and joins them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

from instantstart.aws import sagemaker
from instantstart.aws.errors import AwsProblem
from instantstart.core.problem import ProblemError
from instantstart.kube.errors import KubeProblem
from instantstart.nodes import rules
from instantstart.nodes.schema import GpuCounts, NodeView
from instantstart.operations.services import Services

Doc = dict[str, Any]


@dataclass(frozen=True)
class Fleet:
    """The machines of one cluster. `gpus` is None, and `unseen` says why, when the API server did not answer."""

    nodes: list[NodeView] = field(default_factory=list)
    gpus: GpuCounts | None = None
    unseen: str | None = None


async def observe(services: Services, *, eks_cluster: str | None, hyperpod_cluster: str | None) -> Fleet:
    """Both views now; None for a half that is not there. Raises AwsProblem; a silent API server is told, not raised."""
    machines, (nodes, pods, unseen) = await asyncio.gather(
        _machines(services, hyperpod_cluster), _kubernetes(services, eks_cluster)
    )
    views = rules.join(machines, nodes, services.clock.time())
    return Fleet(views, None if unseen or eks_cluster is None else rules.gpus(nodes, pods), unseen)


async def _machines(services: Services, cluster: str | None) -> list[Doc]:
    if cluster is None:
        return []
    try:
        return await sagemaker.list_nodes(services.aws, cluster)
    except AwsProblem as error:
        if error.not_found:
            return []
        raise


async def _kubernetes(services: Services, cluster: str | None) -> tuple[list[Doc], list[Doc], str | None]:
    if cluster is None:
        return [], [], None
    try:
        kube = await services.kube.get(cluster)
        nodes, pods = await asyncio.gather(kube.list("nodes"), kube.list("pods"))
    except KubeProblem as error:
        return [], [], said(error)
    return nodes, pods, None


def said(error: ProblemError) -> str:
    """A problem in one line."""
    return f"{error.problem.title}: {error.problem.detail}"
