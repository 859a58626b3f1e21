"""Builds the CloudFormation template of a cluster's network and roles. Pure: the same shape, the same text.

Control-plane subnets lie apart from compute subnets, which are no part of the stack (see `compute.py`).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from instantstart.core.names import OWNER_TAG
from instantstart.network.policies import cluster_role, execution_role

Doc = dict[str, Any]
ROLE_TAG = "instantstart:role"
"""AWS tag that says what a network object is for: control-plane, public, compute."""
DISCOVERY_TAG = "kubernetes.io/role/internal-elb"


@dataclass(frozen=True)
class StackShape:
    """What differs between templates. Exactly one of `cidr` and `vpc_id`; blocks are CIDRs inside the VPC."""

    tag: str
    region: str
    zones: tuple[str, ...]
    """Zone names; the first one is where compute is, and the NAT gateway."""
    control_blocks: tuple[str, ...]
    """One per zone."""
    cidr: str | None = None
    vpc_id: str | None = None
    public_block: str | None = None
    """Of a public subnet for a new NAT gateway; None when the VPC has one."""
    nat_gateway_id: str | None = None
    internet_gateway_id: str | None = None
    """Of a reused VPC."""
    s3_endpoint_id: str | None = None
    """A gateway endpoint that a reused VPC has already."""
    bucket: str | None = None
    """A bucket that the managed instance policy does not cover: its name does not begin with `sagemaker-`."""
    extra_tags: dict[str, str] = field(default_factory=dict)


def build(shape: StackShape) -> Doc:
    """The template. Every object with tags has the owner tag, so that removal never takes anything else."""
    resources: Doc = {}
    if shape.vpc_id is None:
        resources["Vpc"] = _vpc(shape)
    resources |= _control_plane(shape)
    if shape.public_block is not None:
        resources |= _egress(shape)
    if shape.s3_endpoint_id is None:
        resources["S3Endpoint"] = _s3_endpoint(shape)
    resources |= _security_group(shape)
    resources["EksRole"] = cluster_role(shape.tag, shape.region)
    resources["ExecutionRole"] = execution_role(shape.tag, shape.region, shape.bucket)
    for name, resource in resources.items():
        resource["DeletionPolicy"] = "Delete"
        if resource["Type"] in _TAGGED:
            resource["Properties"].setdefault("Tags", []).extend(_tags(shape, name))
    return {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Description": f"InstantStart {shape.tag}: network and roles of a HyperPod cluster on EKS.",
        "Parameters": {name: {"Type": "String"} for name in parameters(shape)},
        "Resources": resources,
        "Outputs": _outputs(shape),
    }


def parameters(shape: StackShape) -> dict[str, str]:
    """Where the stack lies: values of the template's parameters, which DescribeStacks shows later."""
    values = {
        "VpcCidr": shape.cidr,
        "VpcId": shape.vpc_id,
        "PublicBlock": shape.public_block,
        "NatGatewayId": shape.nat_gateway_id,
        "InternetGatewayId": shape.internet_gateway_id if shape.public_block else None,
        "S3EndpointId": shape.s3_endpoint_id,
    }
    for number, (zone, block) in enumerate(zip(shape.zones, shape.control_blocks, strict=True), start=1):
        values |= {f"Zone{number}": zone, f"ControlBlock{number}": block}
    return {name: value for name, value in values.items() if value is not None}


def text(shape: StackShape) -> str:
    """The template as JSON text, which CloudFormation takes as it is."""
    return json.dumps(build(shape), indent=1, sort_keys=True)


_TAGGED = {
    "AWS::EC2::VPC",
    "AWS::EC2::Subnet",
    "AWS::EC2::RouteTable",
    "AWS::EC2::InternetGateway",
    "AWS::EC2::EIP",
    "AWS::EC2::NatGateway",
    "AWS::EC2::SecurityGroup",
    "AWS::IAM::Role",
}


def _tags(shape: StackShape, name: str) -> list[Doc]:
    tags = {OWNER_TAG: shape.tag, "Name": f"instantstart-{shape.tag}-{name}"} | shape.extra_tags
    return [{"Key": k, "Value": v} for k, v in tags.items()]


def _resource(kind: str, **properties: Any) -> Doc:
    return {"Type": kind, "Properties": {k: v for k, v in properties.items() if v is not None}}


def _vpc_ref(shape: StackShape) -> Any:
    return {"Ref": "VpcId" if shape.vpc_id else "Vpc"}


def _nat_ref(shape: StackShape) -> Doc:
    return {"Ref": "NatGatewayId" if shape.nat_gateway_id else "NatGateway"}


def _vpc(shape: StackShape) -> Doc:
    return _resource("AWS::EC2::VPC", CidrBlock={"Ref": "VpcCidr"}, EnableDnsSupport=True, EnableDnsHostnames=True)


def _subnet(shape: StackShape, zone: str, block: str, role: str, *, public: bool = False) -> Doc:
    """`zone` and `block` are names of parameters."""
    tags = [{"Key": ROLE_TAG, "Value": role}]
    tags.append({"Key": "kubernetes.io/role/elb" if public else DISCOVERY_TAG, "Value": "1"})
    return _resource(
        "AWS::EC2::Subnet",
        VpcId=_vpc_ref(shape),
        AvailabilityZone={"Ref": zone},
        CidrBlock={"Ref": block},
        MapPublicIpOnLaunch=False,
        Tags=tags,
    )


def _control_plane(shape: StackShape) -> Doc:
    """Private subnets for the interfaces of the EKS control plane, one per zone, with one route table."""
    table = _resource("AWS::EC2::RouteTable", VpcId=_vpc_ref(shape))
    out: Doc = {"ControlRouteTable": table}
    for number in range(1, len(shape.zones) + 1):
        out[f"ControlSubnet{number}"] = _subnet(shape, f"Zone{number}", f"ControlBlock{number}", "control-plane")
        out[f"ControlSubnet{number}Routes"] = _resource(
            "AWS::EC2::SubnetRouteTableAssociation",
            SubnetId={"Ref": f"ControlSubnet{number}"},
            RouteTableId={"Ref": "ControlRouteTable"},
        )
    out["ControlDefaultRoute"] = _resource(
        "AWS::EC2::Route",
        RouteTableId={"Ref": "ControlRouteTable"},
        DestinationCidrBlock="0.0.0.0/0",
        NatGatewayId=_nat_ref(shape),
    )
    return out


def _egress(shape: StackShape) -> Doc:
    """A NAT gateway in the compute zone with what it needs: HyperPod nodes must reach AWS and image registries."""
    gateway = {"Ref": "InternetGatewayId" if shape.internet_gateway_id else "InternetGateway"}
    out: Doc = {}
    if shape.internet_gateway_id is None:
        out["InternetGateway"] = _resource("AWS::EC2::InternetGateway")
        out["GatewayAttachment"] = _resource(
            "AWS::EC2::VPCGatewayAttachment", VpcId=_vpc_ref(shape), InternetGatewayId=gateway
        )
    waits = {"DependsOn": "GatewayAttachment"} if "GatewayAttachment" in out else {}
    out["PublicSubnet"] = _subnet(shape, "Zone1", "PublicBlock", "public", public=True)
    out["PublicRouteTable"] = _resource("AWS::EC2::RouteTable", VpcId=_vpc_ref(shape))
    out["PublicRoute"] = waits | _resource(
        "AWS::EC2::Route",
        RouteTableId={"Ref": "PublicRouteTable"},
        DestinationCidrBlock="0.0.0.0/0",
        GatewayId=gateway,
    )
    out["PublicRoutes"] = _resource(
        "AWS::EC2::SubnetRouteTableAssociation",
        SubnetId={"Ref": "PublicSubnet"},
        RouteTableId={"Ref": "PublicRouteTable"},
    )
    out["NatAddress"] = waits | _resource("AWS::EC2::EIP", Domain="vpc")
    out["NatGateway"] = {"DependsOn": ["PublicRoute", "PublicRoutes"]} | _resource(
        "AWS::EC2::NatGateway",
        AllocationId={"Fn::GetAtt": ["NatAddress", "AllocationId"]},
        SubnetId={"Ref": "PublicSubnet"},
    )
    return out


def _s3_endpoint(shape: StackShape) -> Doc:
    return _resource(
        "AWS::EC2::VPCEndpoint",
        VpcId=_vpc_ref(shape),
        ServiceName={"Fn::Sub": "com.amazonaws.${AWS::Region}.s3"},
        VpcEndpointType="Gateway",
        RouteTableIds=[{"Ref": "ControlRouteTable"}],
    )


def _security_group(shape: StackShape) -> Doc:
    """The nodes' group. EFA needs everything to and from itself; a way out to everywhere does not count for that."""
    group = {"Fn::GetAtt": ["NodeSecurityGroup", "GroupId"]}
    return {
        "NodeSecurityGroup": _resource(
            "AWS::EC2::SecurityGroup",
            GroupDescription=f"HyperPod nodes of {shape.tag}",
            VpcId=_vpc_ref(shape),
            SecurityGroupEgress=[{"IpProtocol": "-1", "CidrIp": "0.0.0.0/0", "Description": "Out to everywhere"}],
        ),
        "NodesFromNodes": _resource(
            "AWS::EC2::SecurityGroupIngress",
            GroupId=group,
            IpProtocol="-1",
            SourceSecurityGroupId=group,
            Description="EFA: everything from the group itself",
        ),
        "NodesToNodes": _resource(
            "AWS::EC2::SecurityGroupEgress",
            GroupId=group,
            IpProtocol="-1",
            DestinationSecurityGroupId=group,
            Description="EFA: everything to the group itself",
        ),
    }


def _outputs(shape: StackShape) -> Doc:
    subnets = [{"Ref": f"ControlSubnet{n}"} for n in range(1, len(shape.zones) + 1)]
    values: Doc = {
        "VpcId": _vpc_ref(shape),
        "ControlSubnetIds": {"Fn::Join": [",", subnets]},
        "SecurityGroupId": {"Fn::GetAtt": ["NodeSecurityGroup", "GroupId"]},
        "EksRoleArn": {"Fn::GetAtt": ["EksRole", "Arn"]},
        "ExecutionRoleArn": {"Fn::GetAtt": ["ExecutionRole", "Arn"]},
        "ExecutionRoleName": {"Ref": "ExecutionRole"},
        "S3EndpointId": {"Ref": "S3EndpointId" if shape.s3_endpoint_id else "S3Endpoint"},
        "NatGatewayId": _nat_ref(shape),
    }
    return {name: {"Value": value} for name, value in values.items()}
