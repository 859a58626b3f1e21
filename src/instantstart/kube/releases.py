"""Helm's own records of releases, read from the cluster: who installed what, with which values, in which state."""

from __future__ import annotations

import base64
import binascii
import gzip
from dataclasses import dataclass
from typing import Any

import orjson

from instantstart.core.names import FIELD_MANAGER, MANAGED_BY
from instantstart.kube.client import Kube

CHART_LABEL = "instantstart.dev/chart"
"""Label on our releases: exactly which content of the chart was installed (`ChartSource.mark`)."""


@dataclass(frozen=True)
class Release:
    """The newest revision of one release."""

    name: str
    namespace: str
    revision: int
    status: str
    """deployed, failed, pending-install, pending-upgrade, pending-rollback, uninstalling, superseded."""
    chart: str
    chart_version: str
    app_version: str
    description: str
    values: dict[str, Any]
    labels: dict[str, str]
    secret: str

    @property
    def ours(self) -> bool:
        """Whether this product installed it."""
        return self.labels.get(MANAGED_BY) == FIELD_MANAGER

    @property
    def pending(self) -> bool:
        """Whether a Helm process is at work on it, or died over it."""
        return self.status.startswith("pending-")


async def read_releases(kube: Kube, namespace: str | None = None, name: str | None = None) -> list[Release]:
    """Newest revision of every release, of one namespace or all. Raises KubeProblem."""
    labels = "owner=helm" + (f",name={name}" if name else "")
    newest: dict[tuple[str, str], Release] = {}
    for secret in await kube.list("secrets", namespace, labels=labels):
        release = _decode(secret)
        if release is None:
            continue
        key = (release.namespace, release.name)
        if key not in newest or newest[key].revision < release.revision:
            newest[key] = release
    return list(newest.values())


def _decode(secret: dict[str, Any]) -> Release | None:
    metadata = secret["metadata"]
    try:
        packed = base64.b64decode(base64.b64decode(secret["data"]["release"]))
        found = orjson.loads(gzip.decompress(packed) if packed[:2] == b"\x1f\x8b" else packed)
    except (KeyError, binascii.Error, OSError, EOFError, orjson.JSONDecodeError):
        return None
    chart = (found.get("chart") or {}).get("metadata") or {}
    info = found.get("info") or {}
    return Release(
        name=found["name"],
        namespace=found.get("namespace") or metadata["namespace"],
        revision=int(found["version"]),
        status=info.get("status", "unknown"),
        chart=chart.get("name", ""),
        chart_version=chart.get("version", ""),
        app_version=chart.get("appVersion", ""),
        description=info.get("description", ""),
        values=found.get("config") or {},
        labels=dict(metadata.get("labels") or {}),
        secret=metadata["name"],
    )
