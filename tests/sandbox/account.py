"""An account made ready over the wire: network, roles, bucket, script; and clusters on it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from tests.sandbox_fixture import RunningSandbox

CALLER = "arn:aws:iam::123456789012:role/sandbox-admin"
ADMIN = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"


@dataclass
class Account:
    """Ids of what was made."""

    sandbox: RunningSandbox
    vpc: str = ""
    subnets: dict[str, str] = field(default_factory=dict)
    group: str = ""
    eks_role: str = ""
    execution_role: str = ""
    bucket: str = "sagemaker-scripts"

    def role(self, name: str, service: str, actions: list[str], *, tag_session: bool = False) -> str:
        """A role that a service may assume, with an inline policy on everything."""
        iam = self.sandbox.client("iam")
        assume = ["sts:AssumeRole", "sts:TagSession"] if tag_session else ["sts:AssumeRole"]
        trust = {"Effect": "Allow", "Principal": {"Service": service}, "Action": assume}
        made = iam.create_role(RoleName=name, AssumeRolePolicyDocument=_document([trust]))
        statement = {"Effect": "Allow", "Action": actions, "Resource": "*"}
        iam.put_role_policy(RoleName=name, PolicyName="all", PolicyDocument=_document([statement]))
        return str(made["Role"]["Arn"])

    def eks_cluster(self, name: str = "eks-a", **changes: Any) -> dict[str, Any]:
        """Ask for an EKS cluster."""
        wanted: dict[str, Any] = {
            "name": name,
            "roleArn": self.eks_role,
            "version": "1.34",
            "resourcesVpcConfig": {
                "subnetIds": [self.subnets["a"], self.subnets["b"]],
                "securityGroupIds": [self.group],
            },
            "accessConfig": {"authenticationMode": "API", "bootstrapClusterCreatorAdminPermissions": False},
            **changes,
        }
        made: dict[str, Any] = self.sandbox.client("eks").create_cluster(**wanted)["cluster"]
        return made

    def active_eks(self, name: str = "eks-a", **changes: Any) -> dict[str, Any]:
        """An EKS cluster that is ACTIVE."""
        self.eks_cluster(name, **changes)
        self.sandbox.advance(900)
        found: dict[str, Any] = self.sandbox.client("eks").describe_cluster(name=name)["cluster"]
        assert found["status"] == "ACTIVE", found
        return found

    def spec(self, name: str = "workers", **changes: Any) -> dict[str, Any]:
        """One instance group."""
        spec: dict[str, Any] = {
            "InstanceGroupName": name,
            "InstanceType": "ml.g5.8xlarge",
            "InstanceCount": 2,
            "ExecutionRole": self.execution_role,
            "LifeCycleConfig": {"SourceS3Uri": f"s3://{self.bucket}/lifecycle", "OnCreate": "on_create.sh"},
            "ThreadsPerCore": 1,
            **changes,
        }
        return {k: v for k, v in spec.items() if v is not None}

    def hyperpod(self, eks: dict[str, Any], name: str = "hp-a", **changes: Any) -> str:
        """Ask for a HyperPod cluster; answers its ARN."""
        wanted: dict[str, Any] = {
            "ClusterName": name,
            "InstanceGroups": [self.spec()],
            "VpcConfig": {"Subnets": [self.subnets["a"]], "SecurityGroupIds": [self.group]},
            "Orchestrator": {"Eks": {"ClusterArn": eks["arn"]}},
            "NodeRecovery": "Automatic",
            "NodeProvisioningMode": "Continuous",
            **changes,
        }
        wanted = {k: v for k, v in wanted.items() if v is not None}
        return str(self.sandbox.client("sagemaker").create_cluster(**wanted)["ClusterArn"])

    def hyperpod_status(self, name: str = "hp-a") -> dict[str, Any]:
        """DescribeCluster."""
        found: dict[str, Any] = self.sandbox.client("sagemaker").describe_cluster(ClusterName=name)
        return found

    def nodes(self, name: str = "hp-a") -> list[dict[str, Any]]:
        """ListClusterNodes with logical ids."""
        found: list[dict[str, Any]] = self.sandbox.client("sagemaker").list_cluster_nodes(
            ClusterName=name, IncludeNodeLogicalIds=True
        )["ClusterNodeSummaries"]
        return found

    def put_script(self) -> None:
        """Upload the lifecycle script."""
        s3 = self.sandbox.client("s3")
        s3.put_object(Bucket=self.bucket, Key="lifecycle/on_create.sh", Body=b"#!/bin/bash\nexit 0\n")


def _document(statements: list[dict[str, Any]]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": statements})


def account(sandbox: RunningSandbox, *, efa_rules: bool = True, script: bool = True) -> Account:
    """VPC with a subnet in zones a, b and c, roles that can be seen, a bucket with the script."""
    made, ec2, s3 = Account(sandbox), sandbox.client("ec2"), sandbox.client("s3")
    made.vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    for position, zone in enumerate("abc"):
        subnet = ec2.create_subnet(
            VpcId=made.vpc, CidrBlock=f"10.0.{position * 16}.0/20", AvailabilityZone=f"us-west-2{zone}"
        )
        made.subnets[zone] = subnet["Subnet"]["SubnetId"]
    made.group = ec2.create_security_group(GroupName="nodes", Description="nodes", VpcId=made.vpc)["GroupId"]
    if efa_rules:
        rule = [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": made.group}]}]
        ec2.authorize_security_group_ingress(GroupId=made.group, IpPermissions=rule)
        ec2.authorize_security_group_egress(GroupId=made.group, IpPermissions=rule)
    made.eks_role = made.role("eks-role", "eks.amazonaws.com", ["ec2:*"])
    made.execution_role = made.role("execution-role", "sagemaker.amazonaws.com", ["ec2:*", "s3:*"])
    s3.create_bucket(Bucket=made.bucket, CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
    if script:
        made.put_script()
    sandbox.advance(11)
    return made
