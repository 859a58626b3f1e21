"""aws commands for the network stack and the compute subnet. Pure."""

from __future__ import annotations

import json
from typing import Any

from instantstart.clusters.choices import ControlPlane, Nodes
from instantstart.clusters.commands.shell import assign, aws, var
from instantstart.core import names
from instantstart.network import rules, shapes, template
from instantstart.network.blocks import COMPUTE_PREFIX, free_blocks
from instantstart.network.facts import NetworkFacts
from instantstart.network.template import ROLE_TAG, StackShape

OUTPUTS = {
    "VPC": "VpcId",
    "SUBNETS": "ControlSubnetIds",
    "NODE_SG": "SecurityGroupId",
    "EKS_ROLE": "EksRoleArn",
    "NODE_ROLE": "ExecutionRoleArn",
    "S3_ENDPOINT": "S3EndpointId",
    "NAT": "NatGatewayId",
}
"""Shell variables by what they hold of the stack's outputs."""


def stack(plane: ControlPlane, facts: NetworkFacts) -> list[str]:
    """Create the stack unless it stands, wait for it, and read its outputs into variables."""
    name = names.network_stack(plane.tag)
    found = []
    if not facts.stands:
        shape = shape_of(plane, facts)
        found = [
            aws(
                "cloudformation",
                "create-stack",
                StackName=name,
                TemplateBody=json.dumps(template.build(shape), separators=(",", ":")),
                Parameters=[f"ParameterKey={k},ParameterValue={v}" for k, v in template.parameters(shape).items()],
                Capabilities="CAPABILITY_NAMED_IAM",
                Tags=[f"Key={k},Value={v}" for k, v in names.owner_tags(plane.tag).items()],
            ),
            aws("cloudformation", "wait stack-create-complete", StackName=name),
        ]
    return found + outputs(plane.tag)


def outputs(tag: str) -> list[str]:
    """Variables with the stack's outputs."""
    return [assign(variable, _output(tag, key)) for variable, key in OUTPUTS.items()]


def subnet(plane: ControlPlane, nodes: Nodes, facts: NetworkFacts) -> list[str]:
    """The compute subnet by the one rule, into SUBNET; with its route table and S3 endpoint where it is new."""
    choice = _choice(plane, nodes, facts)
    if isinstance(choice, rules.Use | rules.Complete):
        return [f"SUBNET={choice.subnet.subnet_id}"]
    found = []
    if isinstance(choice, rules.Extend):
        block = next(free_blocks([choice.cidr], [], COMPUTE_PREFIX))
        found.append(aws("ec2", "associate-vpc-cidr-block", VpcId=var("VPC"), CidrBlock=choice.cidr))
    else:
        block = choice.block
    name = rules.name_of(nodes.zone)
    own = names.owner_tags(plane.tag) | {"Name": name, ROLE_TAG: rules.COMPUTE_ROLE}
    more = {"karpenter.sh/discovery": plane.eks_cluster, "kubernetes.io/role/internal-elb": "1"}
    made = aws(
        "ec2",
        "create-subnet",
        VpcId=var("VPC"),
        CidrBlock=block,
        AvailabilityZone=nodes.zone,
        TagSpecifications=_tags("subnet", own | more),
        Query="Subnet.SubnetId",
        Output="text",
    )
    table = aws(
        "ec2",
        "create-route-table",
        VpcId=var("VPC"),
        TagSpecifications=_tags("route-table", own),
        Query="RouteTable.RouteTableId",
        Output="text",
    )
    return [
        *found,
        assign("SUBNET", made),
        assign("ROUTES", table),
        aws("ec2", "associate-route-table", RouteTableId=var("ROUTES"), SubnetId=var("SUBNET")),
        aws(
            "ec2",
            "create-route",
            RouteTableId=var("ROUTES"),
            DestinationCidrBlock="0.0.0.0/0",
            NatGatewayId=var("NAT"),
        ),
        aws("ec2", "modify-vpc-endpoint", VpcEndpointId=var("S3_ENDPOINT"), AddRouteTableIds=[var("ROUTES")]),
    ]


def shape_of(plane: ControlPlane, facts: NetworkFacts) -> StackShape:
    """The template's shape as the stage would decide it now."""
    common: dict[str, Any] = {
        "tag": plane.tag,
        "region": plane.place.region,
        "zones": plane.zones,
        "bucket": plane.rights_bucket,
    }
    if plane.vpc_id is None:
        return shapes.new_vpc(str(plane.cidr), plane.zones, common)
    assert facts.vpc is not None
    return shapes.reused_vpc(facts.vpc, plane.zones, shapes.choose_blocks(facts.vpc, plane.zones), common)


def _choice(plane: ControlPlane, nodes: Nodes, facts: NetworkFacts) -> rules.Choice:
    wish = rules.ComputeWish(nodes.tag, nodes.zone, nodes.addresses, nodes.subnet_id)
    if facts.vpc is not None:
        return rules.choose(facts.vpc, wish)
    shape = shape_of(plane, facts)
    taken = [b for b in (shape.public_block, *shape.control_blocks) if b]
    return rules.Create(next(free_blocks([str(plane.cidr)], taken, COMPUTE_PREFIX)))


def _output(tag: str, key: str) -> str:
    return aws(
        "cloudformation",
        "describe-stacks",
        StackName=names.network_stack(tag),
        Query=f"Stacks[0].Outputs[?OutputKey=='{key}'].OutputValue",
        Output="text",
    )


def _tags(kind: str, tags: dict[str, str]) -> list[Any]:
    return [{"ResourceType": kind, "Tags": [{"Key": k, "Value": v} for k, v in tags.items()]}]
