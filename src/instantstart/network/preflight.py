"""What must be right about the network before anything is sent: read at once, told all at once."""

from __future__ import annotations

import asyncio
from typing import Any

from instantstart.aws import cloudformation, ec2, iam
from instantstart.aws.absent import tags_of
from instantstart.aws.clients import AwsClients
from instantstart.aws.quotas import quota
from instantstart.core.names import OWNER_TAG, network_stack
from instantstart.network.blocks import new_vpc_cidr
from instantstart.network.facts import ADDRESS_QUOTA, VPC_QUOTA, NetworkFacts, VpcFacts
from instantstart.network.observe import observe_vpc
from instantstart.network.policies import eks_role_name, execution_role_name
from instantstart.operations.services import Services

Doc = dict[str, Any]


async def observe(services: Services, *, tag: str, cidr: str | None, vpc_id: str | None) -> NetworkFacts:
    """Read everything the findings need, side by side. Raises AwsProblem."""
    aws = services.aws
    names = [eks_role_name(tag, aws.region), execution_role_name(tag, aws.region)]
    (zones, vpcs, stack, used), (vpcs_allowed, addresses_allowed), roles = await asyncio.gather(
        asyncio.gather(
            ec2.zones(aws),
            ec2.vpcs(aws),
            cloudformation.describe_stack(aws, network_stack(tag)),
            ec2.addresses(aws),
        ),
        asyncio.gather(quota(aws, "vpc", VPC_QUOTA), quota(aws, "ec2", ADDRESS_QUOTA)),
        asyncio.gather(*(iam.role(aws, name) for name in names)),
    )
    vpc = await observe_vpc(aws, vpc_id) if vpc_id else None
    endpoints, groups, dns = await _details(aws, vpc)
    return NetworkFacts(
        tag=tag,
        region=aws.region,
        cidr=cidr,
        vpc_id=vpc_id,
        zones=zones,
        vpcs={v["VpcId"]: _cidrs(v) for v in vpcs},
        vpc=vpc,
        dns=dns,
        stack=_stack(stack),
        roles={n: tags_of(r.get("Tags")).get(OWNER_TAG) for n, r in zip(names, roles, strict=True) if r},
        vpc_quota=vpcs_allowed,
        address_quota=addresses_allowed,
        addresses=len(used),
        endpoints=endpoints,
        security_groups=groups,
    )


def choose_network(facts: NetworkFacts) -> tuple[str | None, str | None]:
    """(cidr, vpc_id) for the stack, one of them None: what stands, what was given, else a free /16."""
    standing = facts.standing_parameters
    if not facts.cidr and not facts.vpc_id and standing:
        return standing.get("VpcCidr"), standing.get("VpcId")
    if facts.vpc_id:
        return None, facts.vpc_id
    return facts.cidr or new_vpc_cidr([c for cidrs in facts.vpcs.values() for c in cidrs]), None


def zone_of(zones: list[Doc], name_or_id: str) -> Doc | None:
    """The zone by its name or id."""
    return next((z for z in zones if name_or_id in (z["ZoneName"], z.get("ZoneId"))), None)


def choose_zones(zone: str, zones: list[Doc]) -> list[str]:
    """Zone names for the control plane: the compute zone first, then another one that is available."""
    others = [z["ZoneName"] for z in zones if z["ZoneName"] != zone and z.get("State", "available") == "available"]
    return [zone, *sorted(others)[:1]]


async def _details(aws: AwsClients, vpc: VpcFacts | None) -> tuple[list[Doc], list[Doc], dict[str, bool]]:
    """Endpoints, security groups and DNS switches of a reused VPC."""
    if vpc is None:
        return [], [], {}
    endpoints, groups, *dns = await asyncio.gather(
        ec2.vpc_endpoints(aws, vpc.vpc_id),
        ec2.security_groups(aws, *ec2.by(vpc_id=vpc.vpc_id)),
        *(
            aws.call("ec2", "describe_vpc_attribute", VpcId=vpc.vpc_id, Attribute=name)
            for name in ("enableDnsSupport", "enableDnsHostnames")
        ),
    )
    keys = {"enableDnsSupport": "EnableDnsSupport", "enableDnsHostnames": "EnableDnsHostnames"}
    return endpoints, groups, {k: bool(a[key]["Value"]) for (k, key), a in zip(keys.items(), dns, strict=True)}


def _cidrs(vpc: Doc) -> list[str]:
    blocks = vpc.get("CidrBlockAssociationSet") or []
    more = [b["CidrBlock"] for b in blocks if b.get("CidrBlockState", {}).get("State") != "disassociated"]
    return list(dict.fromkeys([vpc["CidrBlock"], *more]))


def _stack(stack: Doc | None) -> Doc | None:
    if stack is None:
        return None
    return {
        "status": stack["StackStatus"],
        "owner": cloudformation.tags(stack).get(OWNER_TAG),
        "parameters": {p["ParameterKey"]: p.get("ParameterValue", "") for p in stack.get("Parameters") or []},
    }
