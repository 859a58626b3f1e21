"""SageMaker HyperPod: clusters, nodes, events, training plans. Thin: shapes are the API's own."""

from __future__ import annotations

from typing import Any

from instantstart.aws.absent import gone, maybe, tags_of
from instantstart.aws.clients import AwsClients

Doc = dict[str, Any]


async def describe_cluster(aws: AwsClients, name: str) -> Doc | None:
    """The HyperPod cluster by name or ARN, or None."""
    return await maybe(aws, "sagemaker", "describe_cluster", ClusterName=name)


async def list_clusters(aws: AwsClients, **filters: Any) -> list[Doc]:
    """Summaries of the region's HyperPod clusters."""
    return await aws.pages("sagemaker", "list_clusters", "ClusterSummaries", **filters)


async def create_cluster(aws: AwsClients, **params: Any) -> Doc:
    """CreateCluster. It takes no client token: the name makes it repeatable."""
    return await aws.call("sagemaker", "create_cluster", **params)


async def update_cluster(aws: AwsClients, **params: Any) -> Doc:
    """UpdateCluster: declares the wanted groups."""
    return await aws.call("sagemaker", "update_cluster", **params)


async def delete_cluster(aws: AwsClients, name: str) -> Doc:
    """DeleteCluster; {} when gone already."""
    return await gone(aws, "sagemaker", "delete_cluster", ClusterName=name)


async def list_nodes(aws: AwsClients, cluster: str, **filters: Any) -> list[Doc]:
    """Every node of the cluster, with logical ids. Empty when the cluster is gone."""
    return await aws.pages("sagemaker", "list_cluster_nodes", "ClusterNodeSummaries", ClusterName=cluster, **filters)


async def describe_node(aws: AwsClients, cluster: str, node_id: str) -> Doc | None:
    """One node's details, or None. Never for a whole fleet."""
    answer = await maybe(aws, "sagemaker", "describe_cluster_node", ClusterName=cluster, NodeId=node_id)
    return answer["NodeDetails"] if answer else None


async def list_events(aws: AwsClients, cluster: str, *, limit: int = 100, **filters: Any) -> list[Doc]:
    """The newest events, newest first, at most 100. Refused for clusters that are not Continuous."""
    answer = await aws.call("sagemaker", "list_cluster_events", ClusterName=cluster, MaxResults=limit, **filters)
    return list(answer.get("Events") or [])


async def describe_event(aws: AwsClients, cluster: str, event_id: str) -> Doc | None:
    """One event with the real cause of a failure in it, or None."""
    answer = await maybe(aws, "sagemaker", "describe_cluster_event", ClusterName=cluster, EventId=event_id)
    return answer["EventDetails"] if answer else None


async def describe_training_plan(aws: AwsClients, name_or_arn: str) -> Doc | None:
    """A training plan by name or ARN, or None."""
    name = name_or_arn.rpartition("/")[2]
    return await maybe(aws, "sagemaker", "describe_training_plan", TrainingPlanName=name)


async def list_training_plans(aws: AwsClients) -> list[Doc]:
    """Summaries of the account's training plans."""
    return await aws.pages("sagemaker", "list_training_plans", "TrainingPlanSummaries")


async def tags(aws: AwsClients, arn: str) -> dict[str, str]:
    """Tags of a SageMaker object."""
    return tags_of(await aws.pages("sagemaker", "list_tags", "Tags", ResourceArn=arn))
