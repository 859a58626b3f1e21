"""What can be asked of clusters, and their views: the one source for REST, MCP and TypeScript."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, StringConstraints, model_validator
from pydantic_core import PydanticCustomError

from instantstart.addons.schema import DependencyView
from instantstart.core.names import TAG_MAX, TAG_MIN, TAG_PATTERN
from instantstart.core.plan import Finding
from instantstart.core.problem import FieldError
from instantstart.instance_groups.schema import CapacityType, GroupView
from instantstart.nodes.schema import GpuCounts, NodeCounts
from instantstart.operations.schema import OperationSummary
from instantstart.storage.schema import BUCKET_PATTERN, ClaimView

InterfaceMode = Literal["efa", "efa-only"]
DeepHealthCheck = Literal["instance_stress", "instance_connectivity"]
MOST_INSTANCES = 6758
"""Of one instance group, by the API."""
Tag = Annotated[str, StringConstraints(pattern=TAG_PATTERN, min_length=TAG_MIN, max_length=TAG_MAX)]
Zone = Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]+$", min_length=1, max_length=40)]
Bucket = Annotated[str, StringConstraints(pattern=BUCKET_PATTERN)]
Version = Annotated[str, StringConstraints(pattern=r"^1\.[0-9]{2}$")]


class Body(BaseModel):
    """A body of which every bad field is told at once: those of the wrong shape, and those that cannot be had."""

    model_config = ConfigDict(extra="forbid")
    _faults: list[FieldError] = PrivateAttr(default_factory=list)

    @property
    def faults(self) -> list[FieldError]:
        """Fields of the wrong shape; they are None here."""
        return self._faults

    def note(self, faults: list[FieldError]) -> None:
        """Remember the fields that could not be read."""
        self._faults = faults

    def given(self, name: str) -> Any:
        """The field's value; None when it was bad or left out."""
        return self.__dict__.get(name)


class NetworkWish(BaseModel):
    """The VPC: a new one with this CIDR, or one that exists. Exactly one of both."""

    model_config = ConfigDict(extra="forbid")

    vpc_id: str | None = Field(
        default=None, pattern=r"^vpc-[0-9a-f]{8,17}$", description="Reuse this VPC of the region."
    )
    cidr: str | None = Field(default=None, max_length=40, description="Make a VPC with this CIDR, /16 to /19.")

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.vpc_id is None) == (self.cidr is None):
            raise PydanticCustomError("one_of", "Give exactly one of vpc_id and cidr")
        return self


_ZONE = Field(description="Zone for the nodes, by name (us-west-2a) or id (usw2-az1).")
_NETWORK = Field(default=None, description="Default: a new VPC with a free /16.")
_VERSION = Field(default=None, description="Kubernetes version; default: one that HyperPod is known to support.")
_BUCKET = Field(
    default=None,
    description="Bucket of this region and account for data and the lifecycle script; default: one is made and kept.",
)


class NodesBody(Body):
    """What is asked of the nodes; the fields of one instance group."""

    availability_zone: Zone = _ZONE
    instance_type: str = Field(min_length=1, max_length=60, description="Begins with ml., e.g. ml.p5.48xlarge.")
    instance_count: int = Field(ge=1, le=MOST_INSTANCES, strict=True)
    capacity_type: CapacityType
    training_plan: str | None = Field(
        default=None, max_length=2048, description="ARN; required with capacity_type training_plan, else not allowed."
    )
    interface_mode: InterfaceMode | None = Field(
        default=None, description="efa-only saves addresses: no IP on the further EFA cards. Fixed for good."
    )
    deep_health_checks: list[DeepHealthCheck] = Field(
        default_factory=list, description="Before a node takes work; 60 to 90 minutes; accelerated types only."
    )


class ClusterCreate(NodesBody):
    """Body of cluster_create: network, EKS, dependencies, HyperPod and storage, in one operation."""

    tag: Tag = Field(description="Name of the cluster; everything is named after it.")
    kubernetes_version: Version | None = _VERSION
    network: NetworkWish | None = _NETWORK
    bucket: Bucket | None = _BUCKET


class EksCreate(Body):
    """Body of cluster_create_eks: network, roles and the EKS control plane only."""

    tag: Tag = Field(description="Name of the cluster; everything is named after it.")
    availability_zone: Zone = Field(description="Zone where the nodes will be, by name or id.")
    kubernetes_version: Version | None = _VERSION
    network: NetworkWish | None = _NETWORK
    bucket: Bucket | None = Field(
        default=None, description="Name it now when the nodes are to use a bucket not called sagemaker-…."
    )


class HyperPodCreate(NodesBody):
    """Body of hyperpod_create: the HyperPod cluster on an EKS cluster that stands."""

    subnet_id: str | None = Field(
        default=None, pattern=r"^subnet-[0-9a-f]{8,17}$", description="Default: a compatible one, else a new /20."
    )
    bucket: Bucket | None = _BUCKET


class ClusterDelete(BaseModel):
    """Body of cluster_delete."""

    model_config = ConfigDict(extra="forbid")

    confirm: str = Field(description="The cluster's tag, typed again.")


class Select(BaseModel):
    """Body of cluster_switch."""

    model_config = ConfigDict(extra="forbid")

    cluster: str = Field(min_length=1, max_length=100, description="Tag of the cluster to select.")


class Selection(BaseModel):
    """The cluster that this caller has selected; nobody else's selection is touched."""

    cluster: str | None


class Half(BaseModel):
    """One half of a cluster: the EKS cluster or the HyperPod cluster."""

    name: str
    status: str = Field(description="The service's own word.")
    version: str | None = Field(default=None, description="Kubernetes version, of the EKS half.")
    arn: str | None = None
    message: str | None = Field(default=None, description="What the service says is wrong.")


class ClusterSummary(BaseModel):
    """One cluster in the list."""

    tag: str = Field(description="Of a cluster that InstantStart did not make: the EKS cluster's name.")
    region: str
    managed: bool = Field(description="Whether InstantStart made it.")
    eks: Half | None
    hyperpod: Half | None
    nodes: NodeCounts | None
    attention: list[Finding] = Field(default_factory=list, description="What needs somebody, with what to do.")
    created_at: datetime | None = None


class ClusterList(BaseModel):
    """Managed and discovered clusters."""

    items: list[ClusterSummary]
    selected: str | None = Field(description="Tag of the cluster this caller has selected.")


class ClusterStatus(ClusterSummary):
    """Both halves of one cluster and everything in it that somebody may have to know."""

    gpus: GpuCounts | None = None
    groups: list[GroupView] = Field(default_factory=list)
    dependencies: list[DependencyView] = Field(default_factory=list)
    storage: list[ClaimView] = Field(default_factory=list)
    operations: list[OperationSummary] = Field(default_factory=list, description="Those that have not ended.")
