"""Reads one VPC into a snapshot: its CIDRs, subnets with their routes, ways out and to S3."""

from __future__ import annotations

import asyncio
from typing import Any

from instantstart.aws import ec2
from instantstart.aws.absent import tags_of
from instantstart.aws.clients import AwsClients
from instantstart.network.facts import SubnetFacts, VpcFacts

Doc = dict[str, Any]


async def observe_vpc(aws: AwsClients, vpc_id: str) -> VpcFacts | None:
    """The VPC now, or None when this account and region have none of that id. Raises AwsProblem."""
    vpc = await ec2.vpc(aws, vpc_id)
    if vpc is None:
        return None
    subnets, tables, endpoints, nats, gateways = await asyncio.gather(
        ec2.subnets(aws, vpc_id),
        ec2.route_tables(aws, vpc_id),
        ec2.vpc_endpoints(aws, vpc_id),
        ec2.nat_gateways(aws, vpc_id),
        ec2.internet_gateways(aws, vpc_id),
    )
    return read_vpc(vpc, subnets, tables, endpoints, nats, gateways)


def read_vpc(
    vpc: Doc, subnets: list[Doc], tables: list[Doc], endpoints: list[Doc], nats: list[Doc], gateways: list[Doc]
) -> VpcFacts:
    """The snapshot from the answers of EC2."""
    blocks = vpc.get("CidrBlockAssociationSet") or []
    state = {b["CidrBlock"]: b.get("CidrBlockState", {}).get("State", "associated") for b in blocks}
    state.setdefault(vpc["CidrBlock"], "associated")
    s3 = _s3_gateway(endpoints)
    s3_tables = list(s3.get("RouteTableIds") or []) if s3 else []
    zones = {s["SubnetId"]: s["AvailabilityZone"] for s in subnets}
    return VpcFacts(
        vpc_id=vpc["VpcId"],
        cidrs=[c for c, s in state.items() if s == "associated"],
        pending_cidrs=[c for c, s in state.items() if s == "associating"],
        subnets=[_subnet(s, tables, s3_tables) for s in subnets],
        nat_gateways={
            n["NatGatewayId"]: zones.get(n["SubnetId"], "") for n in nats if n.get("State", "available") == "available"
        },
        s3_endpoint_id=s3["VpcEndpointId"] if s3 else None,
        s3_route_tables=s3_tables,
        internet_gateway_id=gateways[0]["InternetGatewayId"] if gateways else None,
        tags=tags_of(vpc.get("Tags")),
        routed=_routed(tables),
        route_tables=tables,
    )


def _s3_gateway(endpoints: list[Doc]) -> Doc | None:
    for endpoint in endpoints:
        gateway = endpoint.get("VpcEndpointType", "Gateway") == "Gateway"
        alive = str(endpoint.get("State", "available")).lower() in ("available", "pending", "pendingacceptance")
        if gateway and alive and endpoint["ServiceName"].endswith(".s3"):
            return endpoint
    return None


def _routed(tables: list[Doc]) -> list[str]:
    routes = [r for t in tables for r in t.get("Routes") or []]
    found = {
        r["DestinationCidrBlock"] for r in routes if r.get("DestinationCidrBlock") and r.get("GatewayId") != "local"
    }
    return sorted(found - {"0.0.0.0/0"})


def _subnet(subnet: Doc, tables: list[Doc], s3_tables: list[str]) -> SubnetFacts:
    own = [t for t in tables for a in t.get("Associations") or [] if a.get("SubnetId") == subnet["SubnetId"]]
    main = [t for t in tables for a in t.get("Associations") or [] if a.get("Main")]
    table = next(iter(own or main), None)
    default = _default_route(table)
    return SubnetFacts(
        subnet_id=subnet["SubnetId"],
        vpc_id=subnet["VpcId"],
        zone=subnet["AvailabilityZone"],
        zone_id=subnet.get("AvailabilityZoneId", ""),
        cidr=subnet["CidrBlock"],
        free_addresses=int(subnet["AvailableIpAddressCount"]),
        tags=tags_of(subnet.get("Tags")),
        route_table_id=table["RouteTableId"] if table else None,
        own_route_table=bool(own),
        nat_gateway_id=default.get("NatGatewayId"),
        default_route=next((default[k] for k in _TARGETS if default.get(k)), None),
        s3_endpoint=table is not None and table["RouteTableId"] in s3_tables,
    )


_TARGETS = ("NatGatewayId", "GatewayId", "TransitGatewayId", "NetworkInterfaceId", "VpcPeeringConnectionId")


def _default_route(table: Doc | None) -> Doc:
    routes = (table or {}).get("Routes") or []
    return next((r for r in routes if r.get("DestinationCidrBlock") == "0.0.0.0/0"), {})
