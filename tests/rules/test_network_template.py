"""The network stack's template: linted, tagged, with the rules that EFA needs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from instantstart.core.names import OWNER_TAG
from instantstart.network.template import StackShape, build, parameters, text

ZONES = ("us-west-2a", "us-west-2b")
NEW = StackShape(
    tag="demo",
    region="us-west-2",
    zones=ZONES,
    control_blocks=("10.192.1.0/24", "10.192.2.0/24"),
    cidr="10.192.0.0/16",
    public_block="10.192.0.0/24",
    bucket="mine",
)
REUSED = StackShape(
    tag="demo",
    region="us-west-2",
    zones=ZONES,
    control_blocks=("10.0.1.0/28", "10.0.2.0/28"),
    vpc_id="vpc-0123456789abcdef0",
    nat_gateway_id="nat-0123456789abcdef0",
    s3_endpoint_id="vpce-0123456789abcdef0",
)
CLOSED = StackShape(
    tag="demo",
    region="us-west-2",
    zones=ZONES,
    control_blocks=("10.0.1.0/28", "10.0.2.0/28"),
    vpc_id="vpc-0123456789abcdef0",
    public_block="10.0.3.0/28",
    internet_gateway_id="igw-0123456789abcdef0",
)
SHAPES = {"new": NEW, "reused": REUSED, "closed": CLOSED}


@pytest.mark.parametrize("name", SHAPES)
def test_cfn_lint_has_nothing_to_say(name: str, tmp_path: Path) -> None:
    from cfnlint.api import lint
    from cfnlint.config import ManualArgs

    found = lint(text(SHAPES[name]), config=ManualArgs(regions=["us-west-2"], include_checks=["W", "E"]))
    assert [str(m) for m in found] == []


@pytest.mark.parametrize("name", SHAPES)
def test_parameters_are_those_that_the_template_uses(name: str) -> None:
    template = build(SHAPES[name])
    assert set(template["Parameters"]) == set(parameters(SHAPES[name]))
    body = json.dumps(template["Resources"]) + json.dumps(template["Outputs"])
    assert all(f'{{"Ref": "{p}"}}' in body for p in template["Parameters"])


def test_everything_that_can_be_tagged_is_ours() -> None:
    for name, resource in build(NEW)["Resources"].items():
        tags = {t["Key"]: t["Value"] for t in resource["Properties"].get("Tags", [])}
        assert resource["DeletionPolicy"] == "Delete"
        assert not tags or tags[OWNER_TAG] == "demo", name


def test_the_node_group_has_the_efa_rules() -> None:
    resources = build(NEW)["Resources"]
    group = {"Fn::GetAtt": ["NodeSecurityGroup", "GroupId"]}
    assert resources["NodesFromNodes"]["Properties"]["SourceSecurityGroupId"] == group
    assert resources["NodesToNodes"]["Properties"]["DestinationSecurityGroupId"] == group
    assert resources["NodeSecurityGroup"]["Properties"]["SecurityGroupEgress"][0]["CidrIp"] == "0.0.0.0/0"


def test_a_reused_vpc_gets_only_what_it_lacks() -> None:
    kinds = [r["Type"] for r in build(REUSED)["Resources"].values()]
    assert "AWS::EC2::VPC" not in kinds and "AWS::EC2::NatGateway" not in kinds
    assert "AWS::EC2::VPCEndpoint" not in kinds and "AWS::EC2::InternetGateway" not in kinds
    closed = [r["Type"] for r in build(CLOSED)["Resources"].values()]
    assert "AWS::EC2::NatGateway" in closed and "AWS::EC2::InternetGateway" not in closed


def test_another_bucket_gets_two_actions() -> None:
    def actions(shape: StackShape) -> list[Any]:
        policy = build(shape)["Resources"]["ExecutionRole"]["Properties"]["Policies"][0]
        return [s["Action"] for s in policy["PolicyDocument"]["Statement"] if s["Sid"].startswith("Bucket")]

    assert actions(NEW) == ["s3:ListBucket", "s3:GetObject"]
    assert actions(REUSED) == []
