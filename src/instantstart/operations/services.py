"""The outside services a stage or an observer may call, in one typed bundle made by `main.py`."""

from __future__ import annotations

from dataclasses import dataclass

from instantstart.aws.clients import AwsClients
from instantstart.core.clock import Clock
from instantstart.db.database import Database
from instantstart.kube.clusters import KubeClusters
from instantstart.kube.helm import Helm


@dataclass(frozen=True)
class Options:
    """Settings that plans depend on; read by planners, copied into stage params, never read by stages."""

    region: str
    bucket: str | None = None
    service_role_arn: str | None = None
    kubernetes_version: str | None = None


@dataclass(frozen=True)
class Services:
    """AWS, Kubernetes, Helm, the clock and the database."""

    aws: AwsClients
    kube: KubeClusters
    helm: Helm
    clock: Clock
    db: Database
    options: Options
