"""One EKS cluster in a sandbox, and the product's clients for it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from instantstart.aws import eks
from instantstart.aws.clients import AwsClients, StaticCredentials
from instantstart.core.clock import WallClock
from instantstart.kube.clusters import KubeClusters

CLUSTER = "eks-cluster-demo"


@dataclass
class Cluster:
    """A running sandbox with one cluster that lets us in."""

    sandbox: Any
    aws: AwsClients
    clusters: KubeClusters

    async def advance(self, seconds: float) -> None:
        async with httpx2.AsyncClient(trust_env=False) as client:
            answer = await client.post(f"{self.sandbox.url}/_sandbox/clock", json={"advance_seconds": seconds})
            answer.raise_for_status()


@pytest.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[Cluster]:
    """An ACTIVE EKS cluster, made through the EKS API as creation makes it."""
    from instantstart_sandbox.assembly import build

    sandbox = build(tmp_path / "sandbox", mode="explicit")
    await sandbox.start()
    aws = AwsClients(region="us-west-2", endpoint_url=sandbox.url, credentials=StaticCredentials("AKIAEXAMPLE", "s"))
    made = Cluster(sandbox, aws, KubeClusters(aws, WallClock()))
    await _create(made)
    yield made
    await made.clusters.close()
    await aws.close()
    await sandbox.stop()


async def _create(made: Cluster) -> None:
    aws = made.aws
    vpc = (await aws.call("ec2", "create_vpc", CidrBlock="10.20.0.0/16"))["Vpc"]["VpcId"]
    subnets = []
    for zone, block in (("us-west-2a", "10.20.1.0/24"), ("us-west-2b", "10.20.2.0/24")):
        answer = await aws.call("ec2", "create_subnet", VpcId=vpc, CidrBlock=block, AvailabilityZone=zone)
        subnets.append(answer["Subnet"]["SubnetId"])
    trust = (
        '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"eks.amazonaws.com"},'
        '"Action":"sts:AssumeRole"}]}'
    )
    role = (await aws.call("iam", "create_role", RoleName="eks", AssumeRolePolicyDocument=trust))["Role"]["Arn"]
    rights = '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}'
    await aws.call("iam", "put_role_policy", RoleName="eks", PolicyName="all", PolicyDocument=rights)
    await made.advance(30)
    await eks.create_cluster(
        aws,
        name=CLUSTER,
        roleArn=role,
        resourcesVpcConfig={"subnetIds": subnets},
        version="1.34",
        accessConfig={"authenticationMode": "API", "bootstrapClusterCreatorAdminPermissions": False},
        bootstrapSelfManagedAddons=False,
    )
    for _ in range(60):
        await made.advance(30)
        found = await eks.describe_cluster(aws, CLUSTER)
        if found and found["status"] == "ACTIVE":
            break
    arn = (await aws.account()).principal_arn
    await eks.create_access_entry(aws, clusterName=CLUSTER, principalArn=arn)
    await eks.associate_access_policy(aws, CLUSTER, arn, eks.CLUSTER_ADMIN_POLICY)
    await made.advance(30)
