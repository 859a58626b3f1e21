"""Instance groups of a HyperPod cluster as views, with the zones that their subnets lie in."""

from __future__ import annotations

from typing import Any

from instantstart.aws import ec2
from instantstart.instance_groups import rules
from instantstart.instance_groups.schema import GroupView
from instantstart.operations.services import Services

Doc = dict[str, Any]


async def observe(services: Services, cluster: Doc | None) -> list[GroupView]:
    """The groups of DescribeCluster's answer. Raises AwsProblem."""
    groups = (cluster or {}).get("InstanceGroups") or []
    own = (((cluster or {}).get("VpcConfig") or {}).get("Subnets") or [None])[0]
    used = {s for g in groups for s in (g.get("OverrideVpcConfig") or {}).get("Subnets") or []} | {own} - {None}
    zones = await _zones(services, used)
    return [rules.view(g, zones, own) for g in groups]


async def _zones(services: Services, subnets: set[Any]) -> dict[str, str]:
    if not subnets:
        return {}
    filters = ec2.by(subnet_id=sorted(subnets))
    found = await services.aws.pages("ec2", "describe_subnets", "Subnets", Filters=filters)
    return {s["SubnetId"]: s["AvailabilityZone"] for s in found}
