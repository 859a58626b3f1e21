"""Stand-in for the neighbouring services while they are not there: says yes to everything."""

from __future__ import annotations

from typing import Any

from instantstart_sandbox.world import World


class StubViews:
    def __init__(self, world: World) -> None:
        self.world = world

    def role(self, arn_or_name: str) -> dict[str, Any]:
        services = ["eks.amazonaws.com", "sagemaker.amazonaws.com", "pods.eks.amazonaws.com"]
        trust = {
            "Statement": [
                {"Effect": "Allow", "Principal": {"Service": services}, "Action": ["sts:AssumeRole", "sts:TagSession"]}
            ]
        }
        return {
            "arn": arn_or_name,
            "name": arn_or_name.rpartition("/")[2],
            "trust": trust,
            "policies": [],
            "created_epoch": 0,
            "visible": True,
        }

    def role_can(self, *_a: Any) -> bool:
        return True

    def bucket(self, name: str) -> dict[str, Any]:
        return {"name": name, "region": "us-west-2", "owner": "123456789012"}

    def get_object(self, bucket: str, key: str) -> bytes:
        return b"#!/bin/bash\n"

    def list_objects(self, bucket: str, prefix: str = "") -> list[Any]:
        return []

    def vpc(self, vpc_id: str) -> dict[str, Any]:
        return {"vpc_id": vpc_id}

    def subnet(self, subnet_id: str) -> dict[str, Any]:
        n = int(subnet_id[-1], 16) % 4
        return {
            "subnet_id": subnet_id,
            "vpc_id": "vpc-1",
            "zone": "us-west-2" + "abcd"[n],
            "zone_id": f"usw2-az{n + 1}",
            "cidr": "10.0.0.0/20",
            "free_addresses": 4000,
        }

    def security_group(self, group_id: str) -> dict[str, Any]:
        return {"group_id": group_id, "vpc_id": "vpc-1"}

    def create_interface(self, *_a: Any, **_k: Any) -> dict[str, Any]:
        return {"eni_id": self.world.ids.hex("eni-"), "private_ip": "10.0.0.5"}

    def delete_interface(self, eni_id: str) -> None:
        return None

    def call(self, service: str, operation: str, **params: Any) -> dict[str, Any]:
        return {"GroupId": self.world.ids.hex("sg-")}
