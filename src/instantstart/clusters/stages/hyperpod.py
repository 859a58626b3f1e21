"""Stages of the HyperPod cluster: ask for it, await it, and the mirrors. InService is not done: see nodes.py."""

from __future__ import annotations

from typing import Any

from instantstart.aws import sagemaker
from instantstart.aws.errors import AwsProblem
from instantstart.clusters import registry, requests
from instantstart.clusters.problems import HYPERPOD_DIFFERS, HYPERPOD_FAILED, HYPERPOD_FOREIGN, HYPERPOD_GONE
from instantstart.clusters.specs import (
    AWAIT_EKS,
    AWAIT_HYPERPOD,
    AWAIT_HYPERPOD_REMOVED,
    REMOVE_HYPERPOD,
    REQUEST_HYPERPOD,
    hyperpod_consent,
)
from instantstart.core import names
from instantstart.core.problem import ProblemError
from instantstart.instance_groups import rules as groups
from instantstart.instance_groups.rules import GroupWish
from instantstart.network.plan import AWAIT as AWAIT_NETWORK
from instantstart.network.plan import SUBNET
from instantstart.operations.schema import InFlight
from instantstart.operations.stage import Done, Result, StageContext, Unchanged, Waiting, stage
from instantstart.storage.plan import LIFECYCLE

Doc = dict[str, Any]
_SEEN_AFTER = 300.0
_BUSY = ("Creating", "Updating", "SystemUpdating", "RollingBack")
_WEDGED = 3600.0
"""Seconds after which a deletion that goes on is no longer usual: the execution role may be gone."""


@stage(REQUEST_HYPERPOD, effects=("named sagemaker:CreateCluster",))
async def request_hyperpod_cluster(ctx: StageContext) -> Result:
    """Ask for the cluster, or take the one of ours that stands. Outputs: cluster_name, cluster_arn, group."""
    tag, name = ctx.params["tag"], names.hyperpod_cluster(ctx.params["tag"])
    wish = group_wish(ctx.params)
    found = await sagemaker.describe_cluster(ctx.services.aws, name)
    if found is None:
        await registry.register(ctx.db, tag, ctx.clock.time(), ctx.params["facts"])
        return await _create(ctx, name, wish)
    await check_owner(ctx, found)
    status = found["ClusterStatus"]
    if status == "Failed":
        raise failure(found, tag)
    if status == "Deleting":
        return Waiting(f"A HyperPod cluster {name} is still being deleted.", poll_after=20.0)
    _check_same(found, wish)
    outputs = {"cluster_name": name, "cluster_arn": found["ClusterArn"], "group": wish.name}
    if status == "Creating":
        return Done(outputs, "HyperPod is making the cluster.", _in_flight(name))
    return Unchanged(outputs, f"HyperPod cluster {name} stands.")


@stage(AWAIT_HYPERPOD)
async def await_hyperpod_cluster(ctx: StageContext) -> Result:
    """Wait until InService. Outputs: cluster_name, cluster_arn, status."""
    tag, name = ctx.params["tag"], names.hyperpod_cluster(ctx.params["tag"])
    found = await sagemaker.describe_cluster(ctx.services.aws, name)
    if found is None:
        if ctx.waited > _SEEN_AFTER:
            raise HYPERPOD_GONE(f"There is no HyperPod cluster {name} any more.")
        return Waiting(f"HyperPod does not show {name} yet.", poll_after=5.0, in_flight=_in_flight(name))
    status = found["ClusterStatus"]
    if status == "Failed":
        raise failure(found, tag)
    if status != "InService":
        said = found.get("FailureMessage")
        return Waiting(
            f"HyperPod cluster {name} is {status}.", attention=said, poll_after=30.0, in_flight=_in_flight(name)
        )
    outputs = {"cluster_name": name, "cluster_arn": found["ClusterArn"], "status": status}
    return Done(outputs) if ctx.waited > 0 else Unchanged(outputs)


@stage(REMOVE_HYPERPOD, effects=("named sagemaker:DeleteCluster",))
async def remove_hyperpod_cluster(ctx: StageContext) -> Result:
    """Ask for the removal of our HyperPod cluster. A foreign one is left alone."""
    aws, name = ctx.services.aws, names.hyperpod_cluster(ctx.params["tag"])
    found = await sagemaker.describe_cluster(aws, name)
    if found is None:
        return Unchanged(message="There is no HyperPod cluster.")
    await check_owner(ctx, found)
    if found["ClusterStatus"] == "Deleting":
        return Done(message="HyperPod is deleting the cluster.")
    if found["ClusterStatus"] in _BUSY:
        detail = f"HyperPod cluster {name} is {found['ClusterStatus']}; it can be deleted after that."
        return Waiting(detail, poll_after=20.0)
    try:
        await ctx.effect("named", "sagemaker:DeleteCluster", name, lambda: sagemaker.delete_cluster(aws, name))
    except AwsProblem as error:
        if error.conflict:
            return Waiting(f"HyperPod does not delete {name} yet: {error.aws_message}", poll_after=20.0)
        raise
    return Done(message="HyperPod is deleting the cluster.")


@stage(AWAIT_HYPERPOD_REMOVED)
async def await_hyperpod_removed(ctx: StageContext) -> Result:
    """Wait until the HyperPod cluster is gone: until then it holds the EKS cluster, its role, subnet and groups."""
    name = names.hyperpod_cluster(ctx.params["tag"])
    found = await sagemaker.describe_cluster(ctx.services.aws, name)
    if found is None:
        return Done(message="The HyperPod cluster is gone.") if ctx.waited else Unchanged()
    if found["ClusterStatus"] == "Failed":
        detail = f"HyperPod could not delete {name}: {found.get('FailureMessage') or 'no reason was given.'}"
        raise HYPERPOD_FAILED(detail, remedy="Remove the cause, then retry.")
    nodes = await sagemaker.list_nodes(ctx.services.aws, name)
    words = f"HyperPod cluster {name} is {found['ClusterStatus']}; {len(nodes)} machines are left."
    said = [n["InstanceStatus"].get("Message") for n in nodes if n["InstanceStatus"].get("Message")]
    attention = f"{words} {said[0] if said else ''}".strip() if ctx.waited > _WEDGED else None
    return Waiting(words, attention=attention, poll_after=30.0)


async def check_owner(ctx: StageContext, found: Doc) -> None:
    """Raise hyperpod_foreign unless the cluster carries our tag."""
    tag, arn = ctx.params["tag"], found["ClusterArn"]
    if (await sagemaker.tags(ctx.services.aws, arn)).get(names.OWNER_TAG) != tag:
        detail = f"HyperPod cluster {found['ClusterName']} does not carry the tag {names.OWNER_TAG}={tag}."
        raise HYPERPOD_FOREIGN(detail, data={"cluster": arn})


def group_wish(params: Doc) -> GroupWish:
    """The wish for the first group, from a stage's params."""
    wish = params["group"]
    return GroupWish(**{**wish, "deep_health_checks": tuple(wish["deep_health_checks"])})


def failure(found: Doc, tag: str) -> ProblemError:
    """The problem of a dead HyperPod cluster of ours, with what a retry must remove."""
    said = found.get("FailureMessage") or "HyperPod gives no reason."
    detail = f"HyperPod cluster {found['ClusterName']} is Failed: {said}"
    return HYPERPOD_FAILED(detail, consent=hyperpod_consent(tag))


async def _create(ctx: StageContext, name: str, wish: GroupWish) -> Result:
    aws, network, script = ctx.services.aws, ctx.outputs(AWAIT_NETWORK), ctx.outputs(LIFECYCLE)
    subnet, security_group = ctx.outputs(SUBNET)["subnet_id"], network["security_group_id"]
    group = groups.new_group(
        wish,
        execution_role=network["execution_role_arn"],
        subnet_id=subnet,
        security_group_id=security_group,
        source=script["source"],
        script=script["script"],
    )
    request = requests.hyperpod_cluster(
        ctx.params["tag"],
        eks_arn=ctx.outputs(AWAIT_EKS)["cluster_arn"],
        subnet_id=subnet,
        security_group_id=security_group,
        group=group,
    )
    try:
        answer = await ctx.effect(
            "named", "sagemaker:CreateCluster", name, lambda: sagemaker.create_cluster(aws, **request)
        )
    except AwsProblem as error:
        if error.conflict:
            return Waiting(f"{name} was there after all; looking again.", poll_after=3.0)
        if ctx.waited < _SEEN_AFTER and error.says("cannot assume", "already in use"):
            return Waiting(f"HyperPod does not take the request yet: {error.aws_message}", poll_after=10.0)
        raise
    outputs = {"cluster_name": name, "cluster_arn": answer["ClusterArn"], "group": wish.name}
    return Done(outputs, "HyperPod is making the cluster.", _in_flight(name))


def _check_same(found: Doc, wish: GroupWish) -> None:
    """What stands must have the group that is asked for; its count alone may lag behind."""
    group = next((g for g in found["InstanceGroups"] if g["InstanceGroupName"] == wish.name), None)
    if group is None:
        raise HYPERPOD_DIFFERS(f"HyperPod cluster {found['ClusterName']} has no group {wish.name}.")
    other = {k: v for k, v in groups.differences(group, wish).items() if v[0] != v[1]}
    if other:
        said = "; ".join(f"{k} is {live}, {desired} is asked for" for k, (live, desired) in other.items())
        raise HYPERPOD_DIFFERS(f"Group {wish.name} of {found['ClusterName']}: {said}.", data={"fields": list(other)})


def _in_flight(name: str) -> InFlight:
    return InFlight(
        what=f"HyperPod goes on making the cluster {name} and its nodes.",
        undo=f"aws sagemaker delete-cluster --cluster-name {name}",
    )
