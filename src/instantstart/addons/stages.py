"""Stages of EKS add-ons: ask, await, and the mirrors. One definition serves any list of add-ons."""

from __future__ import annotations

from typing import Any

from instantstart.addons import chart, rules
from instantstart.addons.observe import count_schedulable
from instantstart.addons.plan import AWAIT, AWAIT_ALL, AWAIT_REMOVED, REMOVE, REQUEST, removal_specs
from instantstart.addons.problems import ADDON_FAILED, ADDON_FOREIGN_FAILED, ADDON_UNSUPPORTED
from instantstart.aws import eks
from instantstart.aws.errors import AwsProblem
from instantstart.core.names import owner_tags
from instantstart.core.plan import Consent, PlannedObject
from instantstart.core.problem import ProblemError
from instantstart.operations.stage import Done, Result, StageContext, Unchanged, Waiting, stage

__all__ = ["chart"]
Doc = dict[str, Any]


@stage(REQUEST, effects=("token eks:CreateAddon",))
async def request_addons(ctx: StageContext) -> Result:
    """Ask for each add-on that is not there; what is there is taken as it is. Outputs: versions, created."""
    created: list[str] = list(ctx.own_outputs.get("created") or [])
    versions: dict[str, str] = {}
    leaving = []
    for name in ctx.params["addons"]:
        found = await eks.describe_addon(ctx.services.aws, ctx.params["eks_cluster"], name)
        if found is None:
            versions[name] = await _create(ctx, name)
            created.append(name)
        elif found["status"] == "DELETING":
            leaving.append(name)
        elif found["status"] in rules.DEAD:
            raise _failure(ctx, [found])
        else:
            versions[name] = found["addonVersion"]
    created = list(dict.fromkeys(created))
    outputs = {"versions": versions, "created": created}
    if leaving:
        return Waiting(f"{', '.join(leaving)} is being removed.", poll_after=10.0, outputs=outputs)
    return Done(outputs) if created else Unchanged(outputs)


@stage(AWAIT)
async def await_addons(ctx: StageContext) -> Result:
    """Wait until each is ACTIVE, or lacks nothing but nodes while there are none. Outputs: addons."""
    return await look_at_addons(ctx)


@stage(AWAIT_ALL)
async def await_dependencies(ctx: StageContext) -> Result:
    """Add-ons as `await_addons`, and the chart's release deployed."""
    result = await look_at_addons(ctx)
    if isinstance(result, Waiting):
        return result
    release = await chart.standing(ctx)
    if release is None or release.status != "deployed":
        return Waiting(f"The HyperPod chart is {release.status if release else 'not there'}.", poll_after=10.0)
    facts = {"release": release.name, "revision": release.revision, "owner": chart.owner(release)}
    return Done({**result.outputs, "chart": facts}, result.message)


@stage(REMOVE, effects=("named eks:DeleteAddon",))
async def remove_addons(ctx: StageContext) -> Result:
    """Ask for the removal of those add-ons that are ours."""
    aws, cluster, removed = ctx.services.aws, ctx.params["eks_cluster"], []
    for name in ctx.params["addons"]:
        found = await eks.describe_addon(aws, cluster, name)
        if found is None or not rules.is_ours(found, ctx.params["tag"]):
            continue
        if found["status"] != "DELETING":
            await _delete(ctx, cluster, name)
        removed.append(name)
    return Done({"removed": removed}) if removed else Unchanged({"removed": []})


@stage(AWAIT_REMOVED)
async def await_addons_removed(ctx: StageContext) -> Result:
    """Wait until our add-ons are gone."""
    left = []
    for name in ctx.params["addons"]:
        found = await eks.describe_addon(ctx.services.aws, ctx.params["eks_cluster"], name)
        if found is not None and rules.is_ours(found, ctx.params["tag"]):
            left.append(f"{name} is {found['status']}")
    return Waiting("; ".join(left) + ".", poll_after=10.0) if left else Done()


async def look_at_addons(ctx: StageContext) -> Waiting | Done:
    """Where the add-ons of the params stand. Raises addon_failed with what a retry must remove."""
    aws, cluster = ctx.services.aws, ctx.params["eks_cluster"]
    found = {name: await eks.describe_addon(aws, cluster, name) for name in ctx.params["addons"]}
    there = [a for a in found.values() if a is not None]
    if failed := [a for a in there if a["status"] in rules.DEAD]:
        raise _failure(ctx, failed)
    lacking = [a for a in there if rules.only_lacks_nodes(a)]
    nodes = await count_schedulable(ctx.services, cluster) if lacking else 0
    healths = {a["addonName"]: rules.health(a, schedulable_nodes=nodes) for a in there}
    open_ones = [n for n, a in found.items() if a is None or healths[n] not in ("healthy", "waiting_for_nodes")]
    if open_ones:
        states = ", ".join(f"{n} {(found[n] or {}).get('status', 'not to be seen yet')}" for n in open_ones)
        wrong = [s for a in there if healths[a["addonName"]] == "degraded" and (s := rules.says(a))]
        return Waiting(f"{states}.", attention="; ".join(wrong) or None, poll_after=15.0)
    waiting = [n for n, h in healths.items() if h == "waiting_for_nodes"]
    facts = {a["addonName"]: {"version": a["addonVersion"], "health": healths[a["addonName"]]} for a in there}
    message = f"{', '.join(waiting)} will run when there are nodes." if waiting else None
    return Done({"addons": facts, "waiting_for_nodes": waiting}, message)


async def _create(ctx: StageContext, name: str) -> str:
    """Ask for one add-on in its default version; returns the version."""
    aws, cluster = ctx.services.aws, ctx.params["eks_cluster"]
    version = await ctx.generated(f"version/{name}", lambda: _version(ctx, name))
    token = await ctx.token(f"addon/{name}")
    try:
        await ctx.effect(
            "token",
            "eks:CreateAddon",
            f"{cluster}/{name}",
            lambda: eks.create_addon(
                aws,
                clusterName=cluster,
                addonName=name,
                addonVersion=version,
                resolveConflicts="OVERWRITE",
                clientRequestToken=token,
                tags=owner_tags(ctx.params["tag"]),
            ),
        )
    except AwsProblem as error:
        if not error.conflict:
            raise
    return version


async def _version(ctx: StageContext, name: str) -> str:
    aws, cluster = ctx.services.aws, ctx.params["eks_cluster"]
    found = await eks.describe_cluster(aws, cluster)
    kubernetes = str((found or {}).get("version") or "")
    version = rules.default_version(await eks.addon_versions(aws, name, kubernetes), kubernetes)
    if version is None:
        raise ADDON_UNSUPPORTED(f"EKS has no version of {name} for Kubernetes {kubernetes}.")
    return version


async def _delete(ctx: StageContext, cluster: str, name: str) -> None:
    aws = ctx.services.aws
    await ctx.effect("named", "eks:DeleteAddon", f"{cluster}/{name}", lambda: eks.delete_addon(aws, cluster, name))


def _failure(ctx: StageContext, failed: list[Doc]) -> ProblemError:
    """The problem of dead add-ons: ours may be removed by a retry, those of others are named."""
    said = "; ".join(f"{a['addonName']} is {a['status']}: {rules.says(a) or 'no reason was given'}" for a in failed)
    data = {"addons": [a["addonName"] for a in failed]}
    tag, cluster = ctx.params["tag"], ctx.params["eks_cluster"]
    if not all(rules.is_ours(a, tag) for a in failed):
        return ADDON_FOREIGN_FAILED(f"{said}.", data=data)
    names = [a["addonName"] for a in failed]
    gone = [PlannedObject(kind="AWS::EKS::Addon", name=f"{cluster}/{n}", action="remove", where="aws") for n in names]
    stages = removal_specs(tag, eks_cluster=cluster, addons=names, step=ctx.spec.step)
    return ADDON_FAILED(f"{said}.", data=data, consent=Consent(objects=gone, stages=stages, rerun=ctx.params["rerun"]))
