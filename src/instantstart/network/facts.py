"""What is known of one VPC and its subnets, and of everything that a wish for a network touches."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Doc = dict[str, Any]
VPC_QUOTA = "VPCs per Region"
ADDRESS_QUOTA = "EC2-VPC Elastic IPs"
_USABLE = ("CREATE_COMPLETE", "UPDATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE")


@dataclass(frozen=True)
class SubnetFacts:
    """One subnet with the routes that apply to it."""

    subnet_id: str
    vpc_id: str
    zone: str
    zone_id: str
    cidr: str
    free_addresses: int
    tags: dict[str, str]
    route_table_id: str | None
    own_route_table: bool
    """Whether it has a route table of its own; else the VPC's main one applies."""
    nat_gateway_id: str | None
    """Where its default route leads when that is a NAT gateway."""
    default_route: str | None
    """Target of the default route, whatever it is."""
    s3_endpoint: bool


@dataclass(frozen=True)
class VpcFacts:
    """One VPC."""

    vpc_id: str
    cidrs: list[str]
    pending_cidrs: list[str]
    subnets: list[SubnetFacts]
    nat_gateways: dict[str, str]
    """Available NAT gateways: id to zone."""
    s3_endpoint_id: str | None
    s3_route_tables: list[str]
    internet_gateway_id: str | None
    tags: dict[str, str] = field(default_factory=dict)
    routed: list[str] = field(default_factory=list)
    """Destinations that its route tables send elsewhere (peerings, VPNs)."""
    route_tables: list[Doc] = field(default_factory=list)


@dataclass(frozen=True)
class NetworkFacts:
    """What was read for one wish: `cidr` or `vpc_id` as given, None when not."""

    tag: str
    region: str
    cidr: str | None
    vpc_id: str | None
    zones: list[Doc]
    """The region's zones: ZoneName, ZoneId, State."""
    vpcs: dict[str, list[str]]
    """CIDRs of every VPC by id."""
    vpc: VpcFacts | None
    dns: dict[str, bool]
    """Of the reused VPC: enableDnsSupport, enableDnsHostnames."""
    stack: Doc | None
    """The stack that has our name already: status, owner, parameters."""
    roles: dict[str, str | None]
    """Roles that have our names already, and the tag of their owner."""
    vpc_quota: float | None
    address_quota: float | None
    addresses: int
    """Elastic IP addresses in use."""
    endpoints: list[Doc] = field(default_factory=list)
    security_groups: list[Doc] = field(default_factory=list)

    @property
    def stands(self) -> bool:
        """Whether our network stack is there and usable."""
        return self.stack is not None and self.stack["owner"] == self.tag and self.stack["status"] in _USABLE

    @property
    def standing_parameters(self) -> dict[str, str]:
        """Parameters of the stack that stands; {} when none does."""
        return dict(self.stack["parameters"]) if self.stack and self.stands else {}
