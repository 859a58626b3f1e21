"""Kubernetes clients by EKS cluster: address and CA from DescribeCluster, tokens presigned with wall time."""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import Awaitable, Callable

from instantstart.aws import eks
from instantstart.aws.clients import AwsClients
from instantstart.aws.sts import TOKEN_SECONDS, kube_token
from instantstart.core.clock import Clock
from instantstart.kube.client import Kube
from instantstart.kube.errors import KUBE_NOT_FOUND, KUBE_UNAVAILABLE, KubeProblem


class KubeClusters:
    """One kept client per EKS cluster."""

    def __init__(self, aws: AwsClients, clock: Clock) -> None:
        self._aws, self.clock = aws, clock
        self._kept: dict[str, Kube] = {}
        self._locks: dict[str, asyncio.Lock] = {}

    async def get(self, eks_cluster: str) -> Kube:
        """A client for this EKS cluster. Raises KubeProblem: not found, or transient while it is being created."""
        async with self._locks.setdefault(eks_cluster, asyncio.Lock()):
            kube = self._kept.get(eks_cluster)
            if kube is None or kube.broken:
                kube = await self._make(eks_cluster)
                self._kept[eks_cluster] = kube
            return kube

    def forget(self, eks_cluster: str) -> None:
        """Drop the client, because the cluster was removed or made again."""
        self._kept.pop(eks_cluster, None)

    async def close(self) -> None:
        """Close every client."""
        for kube in self._kept.values():
            await kube.close()
        self._kept.clear()

    async def _make(self, eks_cluster: str) -> Kube:
        found = await eks.describe_cluster(self._aws, eks_cluster)
        if found is None:
            raise KubeProblem(KUBE_NOT_FOUND(f"There is no EKS cluster {eks_cluster}."), status=404)
        endpoint, data = found.get("endpoint"), (found.get("certificateAuthority") or {}).get("data")
        if not endpoint:
            detail = f"The EKS cluster {eks_cluster} is {found.get('status')} and has no address yet."
            raise KubeProblem(KUBE_UNAVAILABLE(detail, transient=found.get("status") in ("CREATING", "PENDING")))
        ca = base64.b64decode(data).decode() if data else None
        kept = self._kept.get(eks_cluster)
        if kept is not None and (kept.server, kept.ca) == (endpoint.rstrip("/"), ca):
            return kept
        return Kube(server=endpoint, ca=ca, token=_tokens(self._aws, eks_cluster))


def _tokens(aws: AwsClients, eks_cluster: str) -> Callable[[bool], Awaitable[str]]:
    """A source of tokens that keeps one for as long as it is taken (wall time)."""
    kept: list[tuple[float, str]] = []

    async def token(renew: bool) -> str:
        now = time.monotonic()
        if renew or not kept or now - kept[0][0] > TOKEN_SECONDS:
            kept[:] = [(now, await kube_token(aws, eks_cluster))]
        return kept[0][1]

    return token
