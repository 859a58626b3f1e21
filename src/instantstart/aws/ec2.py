"""EC2: networks, zones, offerings. Reads are plain; what is changed goes by `change`."""

from __future__ import annotations

from typing import Any

from instantstart.aws.absent import gone, maybe, tag_list
from instantstart.aws.clients import AwsClients

Doc = dict[str, Any]


def by(**filters: str | list[str]) -> list[Doc]:
    """EC2 filters: `by(vpc_id="vpc-1")` is `[{Name: vpc-id, Values: [vpc-1]}]`; `tag__x` is `tag:x`."""
    return [
        {
            "Name": name.replace("tag__", "tag:").replace("_", "-"),
            "Values": [values] if isinstance(values, str) else values,
        }
        for name, values in filters.items()
    ]


def with_tag(key: str, value: str) -> Doc:
    """The filter for a tag whose key has characters that a Python name cannot have."""
    return {"Name": f"tag:{key}", "Values": [value]}


def tag_specification(kind: str, tags: dict[str, str]) -> list[Doc]:
    """TagSpecifications for one kind of object (`subnet`, `route-table`, …)."""
    return [{"ResourceType": kind, "Tags": tag_list(tags)}]


async def zones(aws: AwsClients) -> list[Doc]:
    """The region's availability zones (not local or wavelength zones)."""
    answer = await aws.call("ec2", "describe_availability_zones", Filters=by(zone_type="availability-zone"))
    return list(answer["AvailabilityZones"])


async def offerings(aws: AwsClients, instance_types: list[str] | None = None) -> list[Doc]:
    """`{InstanceType, Location}` per zone name; types by their EC2 name, without `ml.`."""
    filters = by(instance_type=instance_types) if instance_types else []
    return await aws.pages(
        "ec2",
        "describe_instance_type_offerings",
        "InstanceTypeOfferings",
        LocationType="availability-zone",
        Filters=filters,
    )


async def vpc(aws: AwsClients, vpc_id: str) -> Doc | None:
    """The VPC, or None when it is not in this region and account."""
    answer = await maybe(aws, "ec2", "describe_vpcs", VpcIds=[vpc_id])
    return answer["Vpcs"][0] if answer and answer["Vpcs"] else None


async def vpcs(aws: AwsClients) -> list[Doc]:
    """Every VPC of the region."""
    return await aws.pages("ec2", "describe_vpcs", "Vpcs")


async def subnet(aws: AwsClients, subnet_id: str) -> Doc | None:
    """The subnet, or None."""
    answer = await maybe(aws, "ec2", "describe_subnets", SubnetIds=[subnet_id])
    return answer["Subnets"][0] if answer and answer["Subnets"] else None


async def subnets(aws: AwsClients, vpc_id: str, *more: Doc) -> list[Doc]:
    """Every subnet of the VPC."""
    return await aws.pages("ec2", "describe_subnets", "Subnets", Filters=[*by(vpc_id=vpc_id), *more])


async def route_tables(aws: AwsClients, vpc_id: str, *more: Doc) -> list[Doc]:
    """Every route table of the VPC."""
    return await aws.pages("ec2", "describe_route_tables", "RouteTables", Filters=[*by(vpc_id=vpc_id), *more])


async def vpc_endpoints(aws: AwsClients, vpc_id: str) -> list[Doc]:
    """Every endpoint of the VPC."""
    return await aws.pages("ec2", "describe_vpc_endpoints", "VpcEndpoints", Filters=by(vpc_id=vpc_id))


async def nat_gateways(aws: AwsClients, vpc_id: str) -> list[Doc]:
    """The VPC's NAT gateways that are there or coming."""
    return await aws.pages(
        "ec2", "describe_nat_gateways", "NatGateways", Filters=by(vpc_id=vpc_id, state=["pending", "available"])
    )


async def internet_gateways(aws: AwsClients, vpc_id: str) -> list[Doc]:
    """Internet gateways attached to the VPC."""
    return await aws.pages(
        "ec2", "describe_internet_gateways", "InternetGateways", Filters=by(**{"attachment.vpc_id": vpc_id})
    )


async def security_groups(aws: AwsClients, *filters: Doc) -> list[Doc]:
    """Security groups by filters."""
    return await aws.pages("ec2", "describe_security_groups", "SecurityGroups", Filters=list(filters))


async def addresses(aws: AwsClients) -> list[Doc]:
    """The region's Elastic IP addresses."""
    return list((await aws.call("ec2", "describe_addresses"))["Addresses"])


async def interfaces(aws: AwsClients, *filters: Doc) -> list[Doc]:
    """Network interfaces by filters."""
    return await aws.pages("ec2", "describe_network_interfaces", "NetworkInterfaces", Filters=list(filters))


async def change(aws: AwsClients, operation: str, **params: Any) -> Doc:
    """A changing call as it is."""
    return await aws.call("ec2", operation, **params)


async def remove(aws: AwsClients, operation: str, **params: Any) -> Doc:
    """A removing call; {} when the object is gone already."""
    return await gone(aws, "ec2", operation, **params)
