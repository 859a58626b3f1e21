"""The stage that removes, while nodes still run, what in the cluster holds AWS objects outside it."""

from __future__ import annotations

from typing import Any

from instantstart.aws import eks
from instantstart.clusters.inside import Held, held_objects
from instantstart.clusters.specs import REMOVE_OBJECTS
from instantstart.core import names
from instantstart.kube.client import Kube
from instantstart.kube.errors import KubeProblem
from instantstart.operations.stage import Done, Result, StageContext, Unchanged, Waiting, stage

Doc = dict[str, Any]


@stage(REMOVE_OBJECTS, effects=("named kubernetes:delete",))
async def remove_cluster_objects(ctx: StageContext) -> Result:
    """AWS drains nothing: delete endpoints, Ingresses, LoadBalancer Services, autoscaling, and wait until they go."""
    tag = ctx.params["tag"]
    name = names.eks_cluster(tag)
    found = await eks.describe_cluster(ctx.services.aws, name)
    if found is None or found["status"] != "ACTIVE" or (found.get("tags") or {}).get(names.OWNER_TAG) != tag:
        return Unchanged(message="There is no cluster to look into.")
    try:
        kube = await ctx.services.kube.get(name)
        held = await held_objects(kube)
    except KubeProblem as error:
        if error.forbidden:
            return Unchanged(message="The cluster does not let us in, so we have put nothing into it.")
        raise
    removed: list[str] = list(ctx.own_outputs.get("removed") or [])
    for obj in held:
        if not obj.leaving:
            await _delete(ctx, kube, obj)
            removed.append(obj.shown)
    if held:
        left = ", ".join(h.shown for h in held[:5])
        attention = f"Still waiting for {left}." if ctx.waited > 600 else None
        return Waiting(f"Going: {left}.", attention=attention, poll_after=10.0, outputs={"removed": removed})
    return Done({"removed": removed}) if removed else Unchanged({"removed": []})


async def _delete(ctx: StageContext, kube: Kube, obj: Held) -> None:
    async def call() -> Doc:
        await kube.delete(obj.resource, obj.name, obj.namespace)
        return {}

    await ctx.effect("named", "kubernetes:delete", obj.shown, call)
