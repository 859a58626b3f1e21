"""The mirror of the compute subnets: only ours go, and only when nothing uses them any more."""

from __future__ import annotations

from typing import Any

from instantstart.aws import ec2
from instantstart.aws.absent import tags_of
from instantstart.core.names import OWNER_TAG
from instantstart.network.blocks import overlapping
from instantstart.network.compute import CIDR_TAG
from instantstart.network.plan import REMOVE_SUBNETS
from instantstart.network.rules import COMPUTE_ROLE, DEDICATED_TAG
from instantstart.network.template import ROLE_TAG
from instantstart.operations.stage import Done, Result, StageContext, Unchanged, Waiting, stage

Doc = dict[str, Any]
_EFFECTS = (
    "named ec2:DeleteNetworkInterface",
    "named ec2:DeleteSubnet",
    "named ec2:DeleteRouteTable",
    "absolute ec2:DisassociateRouteTable",
    "absolute ec2:ModifyVpcEndpoint",
    "named ec2:DeleteVpcEndpoints",
    "absolute ec2:DisassociateVpcCidrBlock",
    "absolute ec2:DeleteTags",
)


@stage(REMOVE_SUBNETS, effects=_EFFECTS)
async def remove_compute_subnets(ctx: StageContext) -> Result:
    """Remove our compute subnets, their route tables, S3 endpoint and added CIDRs; dedicated subnets stay.

    Interfaces that AWS manages are waited for; only free ones of our subnets are removed.
    """
    aws, tag = ctx.services.aws, ctx.params["tag"]
    mine = [ec2.with_tag(OWNER_TAG, tag), ec2.with_tag(ROLE_TAG, COMPUTE_ROLE)]
    subnets = await aws.pages("ec2", "describe_subnets", "Subnets", Filters=mine)
    subnets = [s for s in subnets if DEDICATED_TAG not in tags_of(s.get("Tags"))]
    tables = await aws.pages("ec2", "describe_route_tables", "RouteTables", Filters=mine)
    busy = await _free_interfaces(ctx, [s["SubnetId"] for s in subnets])
    if busy:
        shown = ", ".join(f"{i['NetworkInterfaceId']} ({i.get('Description') or 'no description'})" for i in busy[:3])
        return Waiting(
            f"{len(busy)} network interfaces still use our subnets.", attention=f"Waiting for {shown}.", poll_after=20.0
        )
    for subnet in subnets:
        await _remove(ctx, "DeleteSubnet", subnet["SubnetId"], "delete_subnet", SubnetId=subnet["SubnetId"])
    for table in tables:
        await _remove_table(ctx, table)
    await _remove_endpoints(ctx, mine)
    taken = await _take_back_cidrs(ctx)
    if not subnets and not tables and not taken:
        return Unchanged(message="There are no compute subnets of ours.")
    return Done({"subnets": [s["SubnetId"] for s in subnets], "cidrs": taken})


async def _free_interfaces(ctx: StageContext, subnets: list[str]) -> list[Doc]:
    """Remove available interfaces that no service manages; the rest is what is waited for."""
    if not subnets:
        return []
    busy = []
    for interface in await ec2.interfaces(ctx.services.aws, *ec2.by(subnet_id=subnets)):
        if interface.get("Status") == "available" and not interface.get("RequesterManaged"):
            name = interface["NetworkInterfaceId"]
            await _remove(ctx, "DeleteNetworkInterface", name, "delete_network_interface", NetworkInterfaceId=name)
        else:
            busy.append(interface)
    return busy


async def _remove_table(ctx: StageContext, table: Doc) -> None:
    """A route table, away from its subnets and out of the S3 endpoint first."""
    name, aws = table["RouteTableId"], ctx.services.aws
    bound = [a for a in table.get("Associations") or [] if a.get("SubnetId")]
    if bound:
        using = ec2.by(subnet_id=[a["SubnetId"] for a in bound])
        if await aws.pages("ec2", "describe_subnets", "Subnets", Filters=using):
            return  # a dedicated subnet goes on using it
    for association in bound:
        where = association["RouteTableAssociationId"]
        await _remove(
            ctx, "DisassociateRouteTable", where, "disassociate_route_table", effect="absolute", AssociationId=where
        )
    for endpoint in await ec2.vpc_endpoints(aws, table["VpcId"]):
        if name in (endpoint.get("RouteTableIds") or []):
            where = endpoint["VpcEndpointId"]
            await _remove(
                ctx,
                "ModifyVpcEndpoint",
                f"{where} {name}",
                "modify_vpc_endpoint",
                effect="absolute",
                VpcEndpointId=where,
                RemoveRouteTableIds=[name],
            )
    await _remove(ctx, "DeleteRouteTable", name, "delete_route_table", RouteTableId=name)


async def _remove_endpoints(ctx: StageContext, mine: list[Doc]) -> None:
    """S3 endpoints that were made beside a compute subnet, not by the stack."""
    found = await ctx.services.aws.pages("ec2", "describe_vpc_endpoints", "VpcEndpoints", Filters=mine)
    for endpoint in found:
        name = endpoint["VpcEndpointId"]
        if str(endpoint.get("State", "")).lower() not in ("deleting", "deleted") and not endpoint.get("RouteTableIds"):
            await _remove(ctx, "DeleteVpcEndpoints", name, "delete_vpc_endpoints", VpcEndpointIds=[name])


async def _take_back_cidrs(ctx: StageContext) -> list[str]:
    """CIDR blocks that we added to a VPC, by the tag that remembers them, when no subnet lies in them."""
    aws, mark = ctx.services.aws, f"{CIDR_TAG}:{ctx.params['tag']}:"
    vpcs = await aws.pages("ec2", "describe_vpcs", "Vpcs", Filters=ec2.by(tag_key=f"{mark}*"))
    taken: list[str] = []
    for vpc in vpcs:
        for key in [k for k in tags_of(vpc.get("Tags")) if k.startswith(mark)]:
            cidr = key.removeprefix(mark)
            if any(overlapping(cidr, [s["CidrBlock"]]) for s in await ec2.subnets(aws, vpc["VpcId"])):
                continue  # somebody's subnet lies in it by now
            blocks = vpc.get("CidrBlockAssociationSet") or []
            for block in [b for b in blocks if b["CidrBlock"] == cidr]:
                state = block.get("CidrBlockState", {}).get("State")
                if state == "associated":
                    await _remove(
                        ctx,
                        "DisassociateVpcCidrBlock",
                        cidr,
                        "disassociate_vpc_cidr_block",
                        effect="absolute",
                        AssociationId=block["AssociationId"],
                    )
            await _remove(
                ctx, "DeleteTags", key, "delete_tags", effect="absolute", Resources=[vpc["VpcId"]], Tags=[{"Key": key}]
            )
            taken.append(cidr)
    return taken


async def _remove(
    ctx: StageContext, call: str, subject: str, operation: str, *, effect: Any = "named", **params: Any
) -> None:
    aws = ctx.services.aws
    await ctx.effect(effect, f"ec2:{call}", subject, lambda: ec2.remove(aws, operation, **params))
