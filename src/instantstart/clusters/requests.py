"""The two great requests as AWS takes them, from names and choices alone. Stages send them, plans show them. Pure."""

from __future__ import annotations

from typing import Any

from instantstart.core import names

Doc = dict[str, Any]
TRAINING_TAG = {"SageMaker": "true"}
"""The training operator's managed policy holds only for clusters with this tag."""


def eks_cluster(tag: str, *, version: str, role_arn: str, subnet_ids: list[str], security_group_id: str) -> Doc:
    """eks:CreateCluster without its token.

    HyperPod refuses CONFIG_MAP, the API's default. Our node security group is on the control plane's interfaces, so
    its rules to itself are all that nodes need to reach it.
    """
    return {
        "name": names.eks_cluster(tag),
        "version": version,
        "roleArn": role_arn,
        "resourcesVpcConfig": {
            "subnetIds": subnet_ids,
            "securityGroupIds": [security_group_id],
            "endpointPublicAccess": True,
            "endpointPrivateAccess": True,
        },
        "accessConfig": {"authenticationMode": "API", "bootstrapClusterCreatorAdminPermissions": False},
        "bootstrapSelfManagedAddons": False,
        "tags": names.owner_tags(tag),
    }


def hyperpod_cluster(tag: str, *, eks_arn: str, subnet_id: str, security_group_id: str, group: Doc) -> Doc:
    """sagemaker:CreateCluster, which takes no token: the name makes it repeatable."""
    tags = names.owner_tags(tag) | TRAINING_TAG
    return {
        "ClusterName": names.hyperpod_cluster(tag),
        "Orchestrator": {"Eks": {"ClusterArn": eks_arn}},
        "VpcConfig": {"SecurityGroupIds": [security_group_id], "Subnets": [subnet_id]},
        "InstanceGroups": [group],
        "NodeRecovery": "Automatic",
        "NodeProvisioningMode": "Continuous",
        "Tags": [{"Key": k, "Value": v} for k, v in tags.items()],
    }
