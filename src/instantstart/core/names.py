"""Names of everything the product makes, from the cluster's tag alone. Known by people, so they never change."""

from __future__ import annotations

import re

TAG_PATTERN = r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$"
TAG_MIN, TAG_MAX = 2, 20
OWNER_TAG = "instantstart:cluster"
"""AWS tag key on whatever the product makes; its value is the cluster's tag."""
MANAGED_BY = "app.kubernetes.io/managed-by"
FIELD_MANAGER = "instantstart"
CLAIM = "s3-claim"
CLAIM_NAMESPACE = "default"


def is_tag(text: str) -> bool:
    """Whether `text` can be a cluster's tag."""
    return TAG_MIN <= len(text) <= TAG_MAX and re.fullmatch(TAG_PATTERN, text) is not None


def eks_cluster(tag: str) -> str:
    """Name of the EKS cluster."""
    return f"eks-cluster-{tag}"


def hyperpod_cluster(tag: str) -> str:
    """Name of the HyperPod cluster."""
    return f"hp-cluster-{tag}"


def tag_of(cluster_name: str) -> str | None:
    """The tag in the name of one of our EKS or HyperPod clusters; None for other names."""
    for prefix in ("eks-cluster-", "hp-cluster-"):
        if cluster_name.startswith(prefix) and is_tag(cluster_name.removeprefix(prefix)):
            return cluster_name.removeprefix(prefix)
    return None


def network_stack(tag: str) -> str:
    """Name of the CloudFormation stack with network and roles."""
    return f"instantstart-{tag}"


def bucket_stack(tag: str) -> str:
    """Name of the retained CloudFormation stack with the cluster's bucket."""
    return f"instantstart-bucket-{tag}"


def bucket(tag: str, account: str, region: str) -> str:
    """Name of the bucket that is made when none was named."""
    return f"sagemaker-{tag}-{account}-{region}"


def owner_tags(tag: str) -> dict[str, str]:
    """AWS tags on whatever the product makes for this cluster."""
    return {OWNER_TAG: tag}


def owner_labels(tag: str) -> dict[str, str]:
    """Kubernetes labels on whatever the product makes for this cluster."""
    return {MANAGED_BY: FIELD_MANAGER, "instantstart.dev/cluster": tag}
