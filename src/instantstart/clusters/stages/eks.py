"""Stages of the EKS control plane: ask for it, await it, and the mirrors."""

from __future__ import annotations

from typing import Any

from instantstart.aws import eks
from instantstart.aws.errors import AwsProblem
from instantstart.clusters import registry, requests
from instantstart.clusters.problems import EKS_FAILED, EKS_FOREIGN, EKS_GONE
from instantstart.clusters.specs import (
    AWAIT_EKS,
    AWAIT_EKS_REMOVED,
    REMOVE_EKS,
    REMOVE_NODE_GROUPS,
    REQUEST_EKS,
    eks_consent,
)
from instantstart.core import names
from instantstart.core.problem import ProblemError
from instantstart.network.plan import AWAIT as AWAIT_NETWORK
from instantstart.operations.schema import InFlight
from instantstart.operations.stage import Done, Result, StageContext, Unchanged, Waiting, stage

Doc = dict[str, Any]
_SEEN_AFTER = 300.0
"""Seconds within which a new object is seen everywhere, and a new role may be taken on."""


@stage(REQUEST_EKS, effects=("token eks:CreateCluster",))
async def request_eks_cluster(ctx: StageContext) -> Result:
    """Ask for the control plane, or take the one of ours that stands. Outputs: cluster_name, cluster_arn."""
    tag, name = ctx.params["tag"], names.eks_cluster(ctx.params["tag"])
    found = await eks.describe_cluster(ctx.services.aws, name)
    if found is not None:
        _check_owner(found, tag)
    await registry.register(ctx.db, tag, ctx.clock.time(), ctx.params["facts"])
    if found is None:
        return await _create(ctx, name)
    outputs = {"cluster_name": name, "cluster_arn": found["arn"]}
    if found["status"] == "FAILED":
        raise failure(found, tag)
    if found["status"] == "DELETING":
        return Waiting(f"An EKS cluster {name} is still being deleted.", poll_after=20.0)
    if found["status"] in ("CREATING", "PENDING"):
        return Done(outputs, "EKS is making the control plane.", _in_flight(name))
    return Unchanged(outputs, f"EKS cluster {name} stands.")


@stage(AWAIT_EKS)
async def await_eks_cluster(ctx: StageContext) -> Result:
    """Wait until ACTIVE. Outputs: cluster_name, cluster_arn, endpoint, oidc_issuer, version, vpc_id."""
    tag, name = ctx.params["tag"], names.eks_cluster(ctx.params["tag"])
    found = await eks.describe_cluster(ctx.services.aws, name)
    if found is None:
        if ctx.waited > _SEEN_AFTER:
            raise EKS_GONE(f"There is no EKS cluster {name} any more.")
        return Waiting(f"EKS does not show {name} yet.", poll_after=5.0, in_flight=_in_flight(name))
    if found["status"] == "FAILED":
        raise failure(found, tag)
    if found["status"] in ("CREATING", "PENDING", "DELETING"):
        return Waiting(f"EKS cluster {name} is {found['status']}.", poll_after=30.0, in_flight=_in_flight(name))
    fresh = ctx.outputs(REQUEST_EKS).get("cluster_arn") is not None and ctx.waited > 0
    if fresh:
        ctx.services.kube.forget(name)
    outputs = {
        "cluster_name": name,
        "cluster_arn": found["arn"],
        "endpoint": found.get("endpoint"),
        "oidc_issuer": ((found.get("identity") or {}).get("oidc") or {}).get("issuer"),
        "version": found.get("version"),
        "vpc_id": (found.get("resourcesVpcConfig") or {}).get("vpcId"),
    }
    return Done(outputs) if fresh else Unchanged(outputs)


@stage(REMOVE_EKS, effects=("token eks:UpdateClusterConfig", "named eks:DeleteCluster"))
async def remove_eks_cluster(ctx: StageContext) -> Result:
    """Ask for the removal of our EKS cluster, its deletion protection off first. A foreign one is left alone."""
    tag, aws = ctx.params["tag"], ctx.services.aws
    name = names.eks_cluster(tag)
    found = await eks.describe_cluster(aws, name)
    if found is None:
        return Unchanged(message="There is no EKS cluster.")
    _check_owner(found, tag)
    if found["status"] == "DELETING":
        return Done(message="EKS is deleting the cluster.")
    if found["status"] in ("CREATING", "UPDATING", "PENDING"):
        return Waiting(f"EKS cluster {name} is {found['status']}; it can be deleted after that.", poll_after=20.0)
    if found.get("deletionProtection"):
        return await _unprotect(ctx, name)
    try:
        await ctx.effect("named", "eks:DeleteCluster", name, lambda: eks.delete_cluster(aws, name))
    except AwsProblem as error:
        if error.conflict:
            return Waiting(f"EKS does not delete {name} yet: {error.aws_message}", poll_after=20.0)
        raise
    return Done(message="EKS is deleting the cluster.")


@stage(AWAIT_EKS_REMOVED)
async def await_eks_removed(ctx: StageContext) -> Result:
    """Wait until the EKS cluster is gone."""
    name = names.eks_cluster(ctx.params["tag"])
    found = await eks.describe_cluster(ctx.services.aws, name)
    if found is None:
        ctx.services.kube.forget(name)
        return Done(message="The EKS cluster is gone.") if ctx.waited else Unchanged()
    _check_owner(found, ctx.params["tag"])
    if found["status"] == "FAILED":
        raise EKS_FAILED(f"EKS could not delete {name}: {issues(found)}", remedy="Remove the cause, then retry.")
    return Waiting(f"EKS cluster {name} is {found['status']}.", poll_after=20.0)


@stage(REMOVE_NODE_GROUPS, effects=("named eks:DeleteNodegroup", "named eks:DeleteFargateProfile"))
async def remove_node_groups(ctx: StageContext) -> Result:
    """Remove node groups and Fargate profiles of our EKS cluster, and wait until they are gone."""
    aws, name = ctx.services.aws, names.eks_cluster(ctx.params["tag"])
    found = await eks.describe_cluster(aws, name)
    if found is None or (found.get("tags") or {}).get(names.OWNER_TAG) != ctx.params["tag"]:
        return Unchanged()
    asked: list[str] = list(ctx.own_outputs.get("asked") or [])
    groups, profiles = await eks.list_nodegroups(aws, name), await eks.list_fargate_profiles(aws, name)
    for group in [g for g in groups if f"group {g}" not in asked]:
        await _delete_group(ctx, name, group)
        asked.append(f"group {group}")
    for profile in [p for p in profiles if f"profile {p}" not in asked]:
        await _delete_profile(ctx, name, profile)
        asked.append(f"profile {profile}")
    if groups or profiles:
        left = ", ".join([*groups, *profiles])
        return Waiting(f"Still there: {left}.", poll_after=20.0, outputs={"asked": asked})
    return Done({"asked": asked}) if asked else Unchanged()


async def _create(ctx: StageContext, name: str) -> Result:
    """Ask for the cluster; its role was made minutes ago, yet may not be known everywhere."""
    tag, aws, network = ctx.params["tag"], ctx.services.aws, ctx.outputs(AWAIT_NETWORK)
    token = await ctx.token("create")
    wish = requests.eks_cluster(
        tag,
        version=ctx.params["version"],
        role_arn=network["eks_role_arn"],
        subnet_ids=network["control_subnet_ids"],
        security_group_id=network["security_group_id"],
    )
    try:
        answer = await ctx.effect(
            "token", "eks:CreateCluster", name, lambda: eks.create_cluster(aws, **wish, clientRequestToken=token)
        )
    except AwsProblem as error:
        if error.conflict:
            return Waiting(f"{name} was there after all; looking again.", poll_after=3.0)
        if "role" in error.aws_message.lower() and ctx.waited < _SEEN_AFTER:
            return Waiting("EKS cannot take its new role on yet.", poll_after=5.0)
        raise
    outputs = {"cluster_name": name, "cluster_arn": answer["cluster"]["arn"]}
    return Done(outputs, "EKS is making the control plane.", _in_flight(name))


async def _unprotect(ctx: StageContext, name: str) -> Result:
    aws, token = ctx.services.aws, await ctx.token("unprotect")
    await ctx.effect(
        "token",
        "eks:UpdateClusterConfig",
        name,
        lambda: eks.update_cluster_config(aws, name, deletionProtection=False, clientRequestToken=token),
    )
    return Waiting("Deletion protection is being switched off.", poll_after=5.0)


async def _delete_group(ctx: StageContext, cluster: str, group: str) -> None:
    aws = ctx.services.aws
    await ctx.effect(
        "named", "eks:DeleteNodegroup", f"{cluster}/{group}", lambda: eks.delete_nodegroup(aws, cluster, group)
    )


async def _delete_profile(ctx: StageContext, cluster: str, profile: str) -> None:
    aws = ctx.services.aws
    await ctx.effect(
        "named",
        "eks:DeleteFargateProfile",
        f"{cluster}/{profile}",
        lambda: eks.delete_fargate_profile(aws, cluster, profile),
    )


def failure(found: Doc, tag: str) -> ProblemError:
    """The problem of a dead EKS cluster of ours, with what a retry must remove."""
    said = issues(found)
    return EKS_FAILED(f"EKS cluster {found['name']} is FAILED: {said}", consent=eks_consent(tag))


def issues(found: Doc) -> str:
    """What EKS says is wrong with a cluster."""
    said = [f"{i.get('code')}: {i.get('message')}" for i in (found.get("health") or {}).get("issues") or []]
    return "; ".join(said) or "EKS gives no reason."


def _check_owner(found: Doc, tag: str) -> None:
    if (found.get("tags") or {}).get(names.OWNER_TAG) != tag:
        detail = f"EKS cluster {found['name']} does not carry the tag {names.OWNER_TAG}={tag}."
        raise EKS_FOREIGN(detail, data={"cluster": found["arn"]})


def _in_flight(name: str) -> InFlight:
    return InFlight(what=f"EKS goes on making the cluster {name}.", undo=f"aws eks delete-cluster --name {name}")
