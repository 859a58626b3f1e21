"""What a request comes to when everything that it left open is decided. Pure data: journeys and plans are made of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from instantstart.core import names
from instantstart.core.instances import InterfaceMode, facts_of
from instantstart.instance_groups.rules import GroupWish
from instantstart.storage.rules import BucketChoice

DEFAULT_KUBERNETES = "1.34"
"""Taken by HyperPod and by every add-on we install; EKS's newest is not."""
HYPERPOD_KUBERNETES = ("1.30", "1.31", "1.32", "1.33", "1.34", "1.35")


@dataclass(frozen=True)
class Place:
    """The account and region of a cluster."""

    account: str
    partition: str
    region: str
    caller: str
    """ARN of the principal that calls AWS."""
    service_role: str | None = None
    """ARN of the role that gets access to the EKS cluster; None: the one that calls AWS."""


@dataclass(frozen=True)
class ControlPlane:
    """Network and EKS cluster."""

    tag: str
    place: Place
    version: str
    zones: tuple[str, ...]
    """Zone names, the nodes' zone first."""
    cidr: str | None
    vpc_id: str | None
    bucket: BucketChoice

    @property
    def eks_cluster(self) -> str:
        """Name of the EKS cluster."""
        return names.eks_cluster(self.tag)

    @property
    def rights_bucket(self) -> str | None:
        """The bucket that the nodes' role needs rights of its own for."""
        return self.bucket.name if self.bucket.needs_rights else None

    @property
    def facts(self) -> dict[str, Any]:
        """What goes on record for later changes."""
        return {"zone": self.zones[0], "bucket": self.bucket.name, "bucket_made": self.bucket.made}


@dataclass(frozen=True)
class Nodes:
    """The HyperPod cluster and its first group."""

    tag: str
    zone: str
    group: GroupWish
    bucket: BucketChoice
    subnet_id: str | None = None
    standing: bool = False
    """Whether the HyperPod cluster stands: then its nodes have their addresses."""

    @property
    def addresses(self) -> int:
        """VPC addresses that its new nodes take."""
        return 0 if self.standing else addresses(self.group)

    @property
    def facts(self) -> dict[str, Any]:
        """What goes on record for later changes."""
        return {"zone": self.zone, "bucket": self.bucket.name, "bucket_made": self.bucket.made}

    @property
    def wish(self) -> dict[str, Any]:
        """The group as JSON-like params of stages."""
        return asdict(self.group) | {"deep_health_checks": list(self.group.deep_health_checks)}


@dataclass(frozen=True)
class Mount:
    """One S3 mount. `others` are buckets of the mounts that stand, which the driver must go on reaching."""

    claim: str
    bucket: BucketChoice
    others: tuple[str, ...] = ()


def addresses(group: GroupWish) -> int:
    """VPC addresses that the nodes of a group and their pods take; 0 for a type that is not known."""
    facts = facts_of(group.instance_type)
    mode: InterfaceMode | None = "efa-only" if group.interface_mode == "efa-only" else None
    return facts.addresses(mode) * group.count if facts else 0
