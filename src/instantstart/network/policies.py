"""The two roles of the network stack: of the EKS cluster and of the HyperPod nodes. Pure."""

from __future__ import annotations

from typing import Any

Doc = dict[str, Any]
_AWS_POLICY = "arn:${AWS::Partition}:iam::aws:policy/"
_INTERFACES = [
    "ec2:AssignPrivateIpAddresses",
    "ec2:AttachNetworkInterface",
    "ec2:CreateNetworkInterface",
    "ec2:CreateNetworkInterfacePermission",
    "ec2:DeleteNetworkInterface",
    "ec2:DeleteNetworkInterfacePermission",
    "ec2:DescribeDhcpOptions",
    "ec2:DescribeInstanceTypes",
    "ec2:DescribeInstances",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSecurityGroups",
    "ec2:DescribeSubnets",
    "ec2:DescribeTags",
    "ec2:DescribeVpcs",
    "ec2:DetachNetworkInterface",
    "ec2:ModifyNetworkInterfaceAttribute",
    "ec2:UnassignPrivateIpAddresses",
]
_CLUSTERS = "arn:${AWS::Partition}:sagemaker:${AWS::Region}:${AWS::AccountId}:cluster/*"


def eks_role_name(tag: str, region: str) -> str:
    """Name of the EKS cluster's role; IAM has no regions, so the name has."""
    return f"instantstart-{tag}-{region}-eks"


def execution_role_name(tag: str, region: str) -> str:
    """Name of the HyperPod nodes' role."""
    return f"instantstart-{tag}-{region}-nodes"


def cluster_role(tag: str, region: str) -> Doc:
    """The role that EKS takes on for its control plane."""
    return {
        "Type": "AWS::IAM::Role",
        "Properties": {
            "RoleName": eks_role_name(tag, region),
            "AssumeRolePolicyDocument": _trust("eks.amazonaws.com"),
            "ManagedPolicyArns": [{"Fn::Sub": f"{_AWS_POLICY}AmazonEKSClusterPolicy"}],
        },
    }


def execution_role(tag: str, region: str, bucket: str | None) -> Doc:
    """The role of HyperPod nodes. HyperPod also removes its interfaces with it: it must outlive the cluster."""
    managed = [
        "AmazonSageMakerClusterInstanceRolePolicy",
        "AmazonEKS_CNI_Policy",
        "AmazonEC2ContainerRegistryReadOnly",
    ]
    return {
        "Type": "AWS::IAM::Role",
        "Properties": {
            "RoleName": execution_role_name(tag, region),
            "AssumeRolePolicyDocument": _trust("sagemaker.amazonaws.com"),
            "ManagedPolicyArns": [{"Fn::Sub": _AWS_POLICY + name} for name in managed],
            "Policies": [
                {
                    "PolicyName": "hyperpod-nodes",
                    "PolicyDocument": {"Version": "2012-10-17", "Statement": _statements(bucket)},
                }
            ],
        },
    }


def _trust(service: str) -> Doc:
    statement = {"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}
    return {"Version": "2012-10-17", "Statement": [statement]}


def _statements(bucket: str | None) -> list[Doc]:
    interfaces = "arn:${AWS::Partition}:ec2:${AWS::Region}:${AWS::AccountId}:network-interface/*"
    statements: list[Doc] = [
        {"Sid": "Interfaces", "Effect": "Allow", "Action": _INTERFACES, "Resource": "*"},
        {
            "Sid": "InterfaceTags",
            "Effect": "Allow",
            "Action": "ec2:CreateTags",
            "Resource": {"Fn::Sub": interfaces},
        },
        {
            "Sid": "PodIdentity",
            "Effect": "Allow",
            "Action": "eks-auth:AssumeRoleForPodIdentity",
            "Resource": {"Fn::Sub": "arn:${AWS::Partition}:eks:${AWS::Region}:${AWS::AccountId}:cluster/*"},
        },
        {
            "Sid": "NodeInterfaces",
            "Effect": "Allow",
            "Action": ["sagemaker:AttachClusterNodeNetworkInterface", "sagemaker:DescribeClusterNode"],
            "Resource": {"Fn::Sub": _CLUSTERS},
        },
    ]
    if bucket is not None:
        arn = f"arn:${{AWS::Partition}}:s3:::{bucket}"
        statements.append(
            {"Sid": "BucketList", "Effect": "Allow", "Action": "s3:ListBucket", "Resource": {"Fn::Sub": arn}}
        )
        statements.append(
            {"Sid": "BucketRead", "Effect": "Allow", "Action": "s3:GetObject", "Resource": {"Fn::Sub": f"{arn}/*"}}
        )
    return statements
