"""The stage that gives compute subnets: rules choose, this makes them true, one call at a time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from instantstart.aws import ec2
from instantstart.aws.absent import tags_of
from instantstart.aws.errors import AwsProblem
from instantstart.core.names import OWNER_TAG, owner_tags
from instantstart.network import rules
from instantstart.network.facts import SubnetFacts, VpcFacts
from instantstart.network.observe import observe_vpc
from instantstart.network.plan import AWAIT, SUBNET
from instantstart.network.problems import NETWORK_DIFFERS
from instantstart.network.template import ROLE_TAG
from instantstart.operations.stage import Done, Result, StageContext, Unchanged, Waiting, stage

Doc = dict[str, Any]
DISCOVERY = "karpenter.sh/discovery"
CIDR_TAG = "instantstart:cidr"
"""AWS tag on a VPC for each CIDR that we added to it: `<this>:<tag>:<cidr>`."""
_EFFECTS = (
    "absolute ec2:CreateTags",
    "absolute ec2:AssociateVpcCidrBlock",
    "named ec2:CreateSubnet",
    "token ec2:CreateRouteTable",
    "absolute ec2:AssociateRouteTable",
    "absolute ec2:CreateRoute",
    "absolute ec2:ModifyVpcEndpoint",
    "token ec2:CreateVpcEndpoint",
)


@stage(SUBNET, effects=_EFFECTS)
async def ensure_compute_subnet(ctx: StageContext) -> Result:
    """The named subnet, else a compatible one of the zone, else a new /20 with its route table and S3 endpoint."""
    vpc = await _vpc(ctx)
    p = ctx.params
    wish = rules.ComputeWish(p["tag"], p["zone"], int(p["addresses"]), p.get("subnet_id"))
    choice = await _choose(ctx, vpc, wish)
    try:
        match choice:
            case rules.Use(subnet):
                return Unchanged(_outputs(subnet, ours=False), f"Subnet {subnet.subnet_id} is used as it is.")
            case rules.Extend(cidr):
                return await _extend(ctx, vpc, cidr)
            case rules.Complete(subnet):
                return await _complete(ctx, vpc, subnet)
            case rules.Create(block):
                return await _create(ctx, vpc, block)
    except AwsProblem as error:
        if error.not_found:  # made a moment ago, and not to be seen everywhere yet
            return Waiting("Waiting until EC2 shows what was just made.", poll_after=3.0)
        raise


async def _choose(ctx: StageContext, vpc: VpcFacts, wish: rules.ComputeWish) -> rules.Choice:
    """The rule's choice; a new block is stored before it is first used, and given up only when it is taken."""
    choice = rules.choose(vpc, wish)
    if not isinstance(choice, rules.Create):
        return choice
    kept = await ctx.generated("block", _as_it_is(choice.block))
    choice = rules.choose(vpc, wish, kept)
    if isinstance(choice, rules.Create) and choice.block != kept:
        await ctx.forget("block")
        await ctx.generated("block", _as_it_is(choice.block))
    return choice


def _as_it_is(block: str) -> Callable[[], Awaitable[str]]:
    async def make() -> str:
        return block

    return make


async def _vpc(ctx: StageContext) -> VpcFacts:
    vpc_id = ctx.params.get("vpc_id") or ctx.outputs(AWAIT)["vpc_id"]
    vpc = await observe_vpc(ctx.services.aws, vpc_id)
    if vpc is None:
        raise NETWORK_DIFFERS(f"The VPC {vpc_id} is gone.")
    return vpc


async def _extend(ctx: StageContext, vpc: VpcFacts, cidr: str) -> Result:
    """Add a CIDR block to the VPC; a tag on the VPC remembers that it is ours to take away again."""
    aws = ctx.services.aws
    if cidr in vpc.pending_cidrs:
        return Waiting(f"VPC {vpc.vpc_id} gets the block {cidr}.", poll_after=5.0)
    mark = {"Key": f"{CIDR_TAG}:{ctx.params['tag']}:{cidr}", "Value": "added"}
    await ctx.effect(
        "absolute",
        "ec2:CreateTags",
        f"{vpc.vpc_id} {mark['Key']}",
        lambda: ec2.change(aws, "create_tags", Resources=[vpc.vpc_id], Tags=[mark]),
    )
    await ctx.effect(
        "absolute",
        "ec2:AssociateVpcCidrBlock",
        f"{vpc.vpc_id} {cidr}",
        lambda: ec2.change(aws, "associate_vpc_cidr_block", VpcId=vpc.vpc_id, CidrBlock=cidr),
    )
    return Waiting(f"VPC {vpc.vpc_id} gets the block {cidr}.", poll_after=5.0)


async def _create(ctx: StageContext, vpc: VpcFacts, block: str) -> Result:
    """Make the subnet of a block. Taken meanwhile: look again."""
    p, aws = ctx.params, ctx.services.aws
    tags = owner_tags(p["tag"]) | {
        "Name": rules.name_of(p["zone"]),
        ROLE_TAG: rules.COMPUTE_ROLE,
        DISCOVERY: p["eks_cluster"],
        "kubernetes.io/role/internal-elb": "1",
    }
    try:
        await ctx.effect(
            "named",
            "ec2:CreateSubnet",
            block,
            lambda: ec2.change(
                aws,
                "create_subnet",
                VpcId=vpc.vpc_id,
                CidrBlock=block,
                AvailabilityZone=p["zone"],
                TagSpecifications=ec2.tag_specification("subnet", tags),
            ),
        )
    except AwsProblem as error:
        if error.conflict:
            return Waiting(f"The block {block} was taken meanwhile; looking again.", poll_after=5.0)
        raise
    return Waiting(f"Subnet {block} is made; its routes come next.", poll_after=2.0, outputs={"made": True})


async def _complete(ctx: StageContext, vpc: VpcFacts, subnet: SubnetFacts) -> Result:
    """Give our subnet what it lacks: a route table of its own, a way out, the S3 endpoint."""
    whole = subnet.own_route_table and subnet.nat_gateway_id and subnet.s3_endpoint
    outputs = _outputs(subnet, ours=True)
    if whole and not ctx.own_outputs.get("made"):
        return Unchanged(outputs, f"Our subnet {subnet.subnet_id} has room.")
    if whole:
        return Done(outputs)
    table = subnet.route_table_id if subnet.own_route_table else None
    if table is None:
        table = await _route_table(ctx, vpc, subnet)
        await _associate(ctx, subnet, table)
    if not (subnet.own_route_table and subnet.nat_gateway_id):
        await _route(ctx, vpc, subnet, table)
    await _endpoint(ctx, vpc, table)
    return Done({**outputs, "route_table_id": table})


async def _route_table(ctx: StageContext, vpc: VpcFacts, subnet: SubnetFacts) -> str:
    name = f"{rules.name_of(subnet.zone)}-{subnet.subnet_id}"
    for table in vpc.route_tables:
        tags = tags_of(table.get("Tags"))
        if tags.get("Name") == name and tags.get(OWNER_TAG) == ctx.params["tag"]:
            return str(table["RouteTableId"])
    tags = owner_tags(ctx.params["tag"]) | {"Name": name, ROLE_TAG: rules.COMPUTE_ROLE}
    token, aws = await ctx.token("route-table"), ctx.services.aws
    answer = await ctx.effect(
        "token",
        "ec2:CreateRouteTable",
        name,
        lambda: ec2.change(
            aws,
            "create_route_table",
            VpcId=vpc.vpc_id,
            ClientToken=token,
            TagSpecifications=ec2.tag_specification("route-table", tags),
        ),
    )
    return str(answer["RouteTable"]["RouteTableId"])


async def _associate(ctx: StageContext, subnet: SubnetFacts, table: str) -> None:
    aws = ctx.services.aws
    await ctx.effect(
        "absolute",
        "ec2:AssociateRouteTable",
        f"{subnet.subnet_id} {table}",
        lambda: ec2.change(aws, "associate_route_table", RouteTableId=table, SubnetId=subnet.subnet_id),
    )


async def _route(ctx: StageContext, vpc: VpcFacts, subnet: SubnetFacts, table: str) -> None:
    """The default route to a NAT gateway: the zone's own, else the stack's, else any."""
    here = [n for n, z in vpc.nat_gateways.items() if z == subnet.zone]
    stack = [n for n in [ctx.outputs(AWAIT).get("nat_gateway_id")] if n in vpc.nat_gateways]
    nat = next(iter([*here, *stack, *vpc.nat_gateways]), None)
    if nat is None:
        raise NETWORK_DIFFERS(f"VPC {vpc.vpc_id} has no NAT gateway any more; nodes could not reach AWS.")
    aws = ctx.services.aws
    try:
        await ctx.effect(
            "absolute",
            "ec2:CreateRoute",
            f"{table} 0.0.0.0/0",
            lambda: ec2.change(
                aws, "create_route", RouteTableId=table, DestinationCidrBlock="0.0.0.0/0", NatGatewayId=nat
            ),
        )
    except AwsProblem as error:
        if not error.conflict:
            raise


async def _endpoint(ctx: StageContext, vpc: VpcFacts, table: str) -> None:
    """Put the route table into the VPC's S3 gateway endpoint, or make the endpoint where there is none."""
    aws = ctx.services.aws
    if table in vpc.s3_route_tables:
        return
    if vpc.s3_endpoint_id is not None:
        endpoint = vpc.s3_endpoint_id
        await ctx.effect(
            "absolute",
            "ec2:ModifyVpcEndpoint",
            f"{endpoint} {table}",
            lambda: ec2.change(aws, "modify_vpc_endpoint", VpcEndpointId=endpoint, AddRouteTableIds=[table]),
        )
        return
    token = await ctx.token("s3-endpoint")
    tags = owner_tags(ctx.params["tag"]) | {ROLE_TAG: rules.COMPUTE_ROLE}
    await ctx.effect(
        "token",
        "ec2:CreateVpcEndpoint",
        f"{vpc.vpc_id} s3",
        lambda: ec2.change(
            aws,
            "create_vpc_endpoint",
            VpcId=vpc.vpc_id,
            ServiceName=f"com.amazonaws.{aws.region}.s3",
            VpcEndpointType="Gateway",
            RouteTableIds=[table],
            ClientToken=token,
            TagSpecifications=ec2.tag_specification("vpc-endpoint", tags),
        ),
    )


def _outputs(subnet: SubnetFacts, *, ours: bool) -> Doc:
    return {
        "subnet_id": subnet.subnet_id,
        "vpc_id": subnet.vpc_id,
        "zone": subnet.zone,
        "zone_id": subnet.zone_id,
        "cidr": subnet.cidr,
        "route_table_id": subnet.route_table_id,
        "ours": ours,
    }
