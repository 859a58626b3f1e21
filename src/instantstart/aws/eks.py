"""EKS: clusters, add-ons, access entries, pod identity associations. Thin: shapes are the API's own."""

from __future__ import annotations

from typing import Any

from instantstart.aws.absent import gone, maybe
from instantstart.aws.clients import AwsClients

Doc = dict[str, Any]
POLICY_PREFIX = "arn:aws:eks::aws:cluster-access-policy/"
CLUSTER_ADMIN_POLICY = POLICY_PREFIX + "AmazonEKSClusterAdminPolicy"


async def describe_cluster(aws: AwsClients, name: str) -> Doc | None:
    """The cluster, or None."""
    answer = await maybe(aws, "eks", "describe_cluster", name=name)
    return answer["cluster"] if answer else None


async def list_clusters(aws: AwsClients) -> list[str]:
    """Names of every EKS cluster in the region."""
    return [str(n) for n in await aws.pages("eks", "list_clusters", "clusters")]


async def create_cluster(aws: AwsClients, **params: Any) -> Doc:
    """CreateCluster (takes clientRequestToken)."""
    return await aws.call("eks", "create_cluster", **params)


async def delete_cluster(aws: AwsClients, name: str) -> Doc:
    """DeleteCluster; {} when gone already."""
    return await gone(aws, "eks", "delete_cluster", name=name)


async def update_cluster_config(aws: AwsClients, name: str, **params: Any) -> Doc:
    """UpdateClusterConfig (takes clientRequestToken)."""
    return await aws.call("eks", "update_cluster_config", name=name, **params)


async def list_nodegroups(aws: AwsClients, cluster: str) -> list[str]:
    """Names of the cluster's managed node groups."""
    return [str(n) for n in await aws.pages("eks", "list_nodegroups", "nodegroups", clusterName=cluster)]


async def delete_nodegroup(aws: AwsClients, cluster: str, name: str) -> Doc:
    """DeleteNodegroup; {} when gone already."""
    return await gone(aws, "eks", "delete_nodegroup", clusterName=cluster, nodegroupName=name)


async def list_fargate_profiles(aws: AwsClients, cluster: str) -> list[str]:
    """Names of the cluster's Fargate profiles."""
    return [str(n) for n in await aws.pages("eks", "list_fargate_profiles", "fargateProfileNames", clusterName=cluster)]


async def delete_fargate_profile(aws: AwsClients, cluster: str, name: str) -> Doc:
    """DeleteFargateProfile; {} when gone already."""
    return await gone(aws, "eks", "delete_fargate_profile", clusterName=cluster, fargateProfileName=name)


async def describe_addon(aws: AwsClients, cluster: str, addon: str) -> Doc | None:
    """The add-on, or None (also when the cluster is not there)."""
    answer = await maybe(aws, "eks", "describe_addon", clusterName=cluster, addonName=addon)
    return answer["addon"] if answer else None


async def list_addons(aws: AwsClients, cluster: str) -> list[str]:
    """Names of the cluster's add-ons."""
    return [str(n) for n in await aws.pages("eks", "list_addons", "addons", clusterName=cluster)]


async def create_addon(aws: AwsClients, **params: Any) -> Doc:
    """CreateAddon (takes clientRequestToken)."""
    return await aws.call("eks", "create_addon", **params)


async def delete_addon(aws: AwsClients, cluster: str, addon: str) -> Doc:
    """DeleteAddon; {} when gone already."""
    return await gone(aws, "eks", "delete_addon", clusterName=cluster, addonName=addon)


async def addon_versions(aws: AwsClients, addon: str, kubernetes_version: str) -> list[Doc]:
    """Versions of an add-on for a Kubernetes version, as `addons[].addonVersions[]`."""
    found = await aws.pages(
        "eks", "describe_addon_versions", "addons", addonName=addon, kubernetesVersion=kubernetes_version
    )
    return [version for a in found for version in a.get("addonVersions", [])]


async def describe_access_entry(aws: AwsClients, cluster: str, principal_arn: str) -> Doc | None:
    """The access entry, or None."""
    answer = await maybe(aws, "eks", "describe_access_entry", clusterName=cluster, principalArn=principal_arn)
    return answer["accessEntry"] if answer else None


async def create_access_entry(aws: AwsClients, **params: Any) -> Doc:
    """CreateAccessEntry (takes clientRequestToken)."""
    return await aws.call("eks", "create_access_entry", **params)


async def delete_access_entry(aws: AwsClients, cluster: str, principal_arn: str) -> Doc:
    """DeleteAccessEntry; {} when gone already."""
    return await gone(aws, "eks", "delete_access_entry", clusterName=cluster, principalArn=principal_arn)


async def associated_policies(aws: AwsClients, cluster: str, principal_arn: str) -> list[Doc]:
    """Access policies of one access entry, with their scopes."""
    return await aws.pages(
        "eks",
        "list_associated_access_policies",
        "associatedAccessPolicies",
        clusterName=cluster,
        principalArn=principal_arn,
    )


async def associate_access_policy(aws: AwsClients, cluster: str, principal_arn: str, policy_arn: str) -> Doc:
    """AssociateAccessPolicy on the whole cluster; repeatable."""
    return await aws.call(
        "eks",
        "associate_access_policy",
        clusterName=cluster,
        principalArn=principal_arn,
        policyArn=policy_arn,
        accessScope={"type": "cluster"},
    )


async def pod_identities(aws: AwsClients, cluster: str, namespace: str, service_account: str) -> list[Doc]:
    """Pod identity associations of one service account, described (at most one exists)."""
    listed = await aws.pages(
        "eks",
        "list_pod_identity_associations",
        "associations",
        clusterName=cluster,
        namespace=namespace,
        serviceAccount=service_account,
    )
    answers = [
        await maybe(
            aws, "eks", "describe_pod_identity_association", clusterName=cluster, associationId=a["associationId"]
        )
        for a in listed
    ]
    return [a["association"] for a in answers if a]


async def create_pod_identity(aws: AwsClients, **params: Any) -> Doc:
    """CreatePodIdentityAssociation (takes clientRequestToken)."""
    return await aws.call("eks", "create_pod_identity_association", **params)


async def delete_pod_identity(aws: AwsClients, cluster: str, association_id: str) -> Doc:
    """DeletePodIdentityAssociation; {} when gone already."""
    return await gone(aws, "eks", "delete_pod_identity_association", clusterName=cluster, associationId=association_id)
