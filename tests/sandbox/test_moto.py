"""The bridged services: what they hold survives a restart exactly, and the other services see it through views."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from instantstart_sandbox.aws.errors import AwsError
from instantstart_sandbox.aws.moto_bridge import MotoBridge
from instantstart_sandbox.aws.views import AwsViews
from instantstart_sandbox.world import World

TRUST = '{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": {"Service": "eks.amazonaws.com"}, \
"Action": "sts:AssumeRole"}]}'
POLICY = '{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:Get*", \
"Resource": "arn:aws:s3:::sagemaker-*"}]}'


def begin(folder: Path) -> tuple[World, AwsViews]:
    world = World(folder, mode="explicit")
    return world, AwsViews(world, MotoBridge(world))


def furnish(views: AwsViews) -> tuple[str, str]:
    """A VPC with a subnet, an interface, a role and an object; answers the ids of subnet and interface."""
    vpc = views.call("ec2", "create_vpc", CidrBlock="10.9.0.0/16")["Vpc"]["VpcId"]
    made = views.call("ec2", "create_subnet", CidrBlock="10.9.0.0/20", VpcId=vpc, AvailabilityZone="us-west-2a")
    subnet = made["Subnet"]["SubnetId"]
    interface = views.create_interface(subnet, [], "a node's")
    views.call("iam", "create_role", RoleName="node", AssumeRolePolicyDocument=TRUST)
    views.call("iam", "put_role_policy", RoleName="node", PolicyName="read", PolicyDocument=POLICY)
    where = {"LocationConstraint": "us-west-2"}
    views.call("s3", "create_bucket", Bucket="sagemaker-demo", CreateBucketConfiguration=where)
    views.put_object("sagemaker-demo", "scripts/on_create.sh", b"#!/bin/bash\n")
    return subnet, interface["eni_id"]


def everything(views: AwsViews, subnet: str) -> list[Any]:
    shown = [views.call("ec2", f"describe_{kind}") for kind in ("vpcs", "subnets", "network_interfaces")]
    for answer in shown:
        del answer["ResponseMetadata"]
    content = views.get_object("sagemaker-demo", "scripts/on_create.sh")
    return [*shown, views.subnet(subnet), views.role("node"), content, views.counts()]


def test_a_restart_replays_the_same_ids_times_and_contents(tmp_path: Path) -> None:
    world, views = begin(tmp_path)
    subnet, _ = furnish(views)
    before = everything(views, subnet)
    world.store.close()
    _, again = begin(tmp_path)
    assert everything(again, subnet) == before


def test_a_refused_call_and_a_read_are_not_replayed(tmp_path: Path) -> None:
    world, views = begin(tmp_path)
    furnish(views)
    count = "select count(*) from replay"
    before = world.store.db.execute(count).fetchone()
    with pytest.raises(AwsError) as caught:
        views.call("ec2", "delete_subnet", SubnetId="subnet-00000000000000000")
    assert caught.value.code == "InvalidSubnetID.NotFound"
    views.counts()
    assert world.store.db.execute(count).fetchone() == before


def test_views_tell_what_is_there(tmp_path: Path) -> None:
    _, views = begin(tmp_path)
    subnet, interface = furnish(views)
    found = views.subnet(subnet)
    assert found is not None
    assert (found["zone"], found["zone_id"], found["free_addresses"]) == ("us-west-2a", "usw2-az2", 4090)
    views.delete_interface(interface)
    views.delete_interface(interface)
    assert (views.subnet(subnet) or {})["free_addresses"] == 4091
    assert views.bucket("sagemaker-demo") == {
        "name": "sagemaker-demo",
        "region": "us-west-2",
        "owner": "123456789012",
    }
    assert views.bucket("nobody-has-this") is None
    assert views.subnet("subnet-00000000000000000") is None
    assert views.role("nobody") is None


async def test_a_role_is_seen_ten_seconds_after_it_was_made(tmp_path: Path) -> None:
    world, views = begin(tmp_path)
    furnish(views)
    assert (views.role("node") or {})["visible"] is False
    await world.timers.advance(10)
    assert (views.role("arn:aws:iam::123456789012:role/node") or {})["visible"] is True


@pytest.mark.parametrize(
    ("action", "resource", "may"),
    [
        ("s3:GetObject", "arn:aws:s3:::sagemaker-demo/a", True),
        ("s3:GetObject", "arn:aws:s3:::other/a", False),
        ("s3:PutObject", "arn:aws:s3:::sagemaker-demo/a", False),
    ],
)
def test_a_role_may_what_its_policies_say(tmp_path: Path, action: str, resource: str, may: bool) -> None:
    _, views = begin(tmp_path)
    furnish(views)
    assert views.role_can("node", action, resource) is may
