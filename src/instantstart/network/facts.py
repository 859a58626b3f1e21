"""What is known of one VPC and its subnets."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Doc = dict[str, Any]


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
