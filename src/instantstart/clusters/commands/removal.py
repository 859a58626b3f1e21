"""The terminal form of a removal, in the order that AWS demands. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field

from instantstart.clusters.choices import Place
from instantstart.clusters.commands import parts
from instantstart.clusters.commands.request import Sent
from instantstart.clusters.commands.shell import aws, gone, quote
from instantstart.core import names
from instantstart.core.plan import TerminalForms
from instantstart.identity import rules as identity


@dataclass(frozen=True)
class Inventory:
    """What stands of a cluster and is ours to remove."""

    eks: bool = False
    hyperpod: bool = False
    stack: bool = False
    objects: list[tuple[str, str, str | None]] = field(default_factory=list)
    """Kubernetes objects that hold AWS objects: resource, name, namespace."""
    node_groups: list[str] = field(default_factory=list)
    profiles: list[str] = field(default_factory=list)
    subnets: list[str] = field(default_factory=list)
    route_tables: list[str] = field(default_factory=list)
    providers: list[str] = field(default_factory=list)
    driver_role: bool = False


def forms(sent: Sent, tag: str, place: Place, there: Inventory) -> TerminalForms:
    """cluster_delete."""
    kubectl = [
        f"kubectl delete {resource} {quote(name)}" + (f" -n {quote(namespace)}" if namespace else "")
        for resource, name, namespace in there.objects
    ]
    commands = [
        *_hyperpod(tag, there),
        *_node_groups(tag, there),
        *[aws("ec2", "delete-subnet", SubnetId=s) for s in there.subnets],
        *[aws("ec2", "delete-route-table", RouteTableId=t) for t in there.route_tables],
        *_eks(tag, there),
        *[aws("iam", "delete-open-id-connect-provider", OpenIDConnectProviderArn=p) for p in there.providers],
        *(_role(tag, place) if there.driver_role else []),
        *_stack(tag, there),
    ]
    opened = parts.kubeconfig(tag) if kubectl else []
    return sent.forms().model_copy(update={"aws": commands, "kubectl": [*opened, *kubectl]})


def _hyperpod(tag: str, there: Inventory) -> list[str]:
    where = {"ClusterName": names.hyperpod_cluster(tag)}
    if not there.hyperpod:
        return []
    return [aws("sagemaker", "delete-cluster", **where), gone(aws("sagemaker", "describe-cluster", **where))]


def _node_groups(tag: str, there: Inventory) -> list[str]:
    where = {"clusterName": names.eks_cluster(tag)}
    found = []
    for group in there.node_groups:
        found.append(aws("eks", "delete-nodegroup", **where, nodegroupName=group))
        found.append(aws("eks", "wait nodegroup-deleted", **where, nodegroupName=group))
    for profile in there.profiles:
        found.append(aws("eks", "delete-fargate-profile", **where, fargateProfileName=profile))
        found.append(aws("eks", "wait fargate-profile-deleted", **where, fargateProfileName=profile))
    return found


def _eks(tag: str, there: Inventory) -> list[str]:
    where = {"name": names.eks_cluster(tag)}
    if not there.eks:
        return []
    return [aws("eks", "delete-cluster", **where), aws("eks", "wait cluster-deleted", **where)]


def _role(tag: str, place: Place) -> list[str]:
    role = identity.role_name(tag, place.region, "s3-csi")
    return [
        aws("iam", "delete-role-policy", RoleName=role, PolicyName=identity.INLINE_POLICY),
        aws("iam", "delete-role", RoleName=role),
    ]


def _stack(tag: str, there: Inventory) -> list[str]:
    where = {"StackName": names.network_stack(tag)}
    if not there.stack:
        return []
    return [
        aws("cloudformation", "delete-stack", **where),
        aws("cloudformation", "wait stack-delete-complete", **where),
    ]
