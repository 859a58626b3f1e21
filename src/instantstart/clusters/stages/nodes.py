"""The stage that awaits the nodes: the counts that we asked for, Ready and schedulable. A shortage is told at once."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from instantstart.aws import sagemaker
from instantstart.clusters.events import cause, newest_error
from instantstart.clusters.problems import HYPERPOD_GONE
from instantstart.clusters.specs import AWAIT_NODES
from instantstart.clusters.stages.hyperpod import failure, group_wish
from instantstart.core import names
from instantstart.nodes.rules import CHECK_LABEL, CHECKING, GROUP_LABEL, ready_in
from instantstart.operations.schema import InFlight
from instantstart.operations.stage import Done, Result, StageContext, Unchanged, Waiting, stage

Doc = dict[str, Any]
_RECENT_SECONDS = 900.0
"""A shortage is tried again every 5 to 7 minutes: an older event is history."""


@stage(AWAIT_NODES)
async def await_nodes(ctx: StageContext) -> Result:
    """Wait until our count is reached. Outputs: nodes. Time spent on deep health checks counts for no deadline."""
    tag, aws = ctx.params["tag"], ctx.services.aws
    name, wish = names.hyperpod_cluster(tag), group_wish(ctx.params)
    cluster = await sagemaker.describe_cluster(aws, name)
    if cluster is None:
        raise HYPERPOD_GONE(f"There is no HyperPod cluster {name} any more.")
    if cluster["ClusterStatus"] == "Failed":
        raise failure(cluster, tag)
    machines = [m for m in await sagemaker.list_nodes(aws, name) if m["InstanceGroupName"] == wish.name]
    running = [m for m in machines if m["InstanceStatus"]["Status"] == "Running"]
    kube = await ctx.services.kube.get(names.eks_cluster(tag))
    nodes = await kube.list("nodes", labels=f"{GROUP_LABEL}={wish.name}")
    ready = ready_in(nodes, wish.name)
    if len(running) >= wish.count and len(ready) >= wish.count:
        outputs = {"nodes": sorted(ready), "count": len(ready)}
        return Done(outputs) if ctx.waited > 0 else Unchanged(outputs)
    checking = _checking(machines, nodes)
    words = f"{len(running)} of {wish.count} machines run, {len(ready)} are Ready and schedulable"
    words += f"; {checking} under deep health checks." if checking else "."
    short = len(machines) < wish.count or any(m["InstanceStatus"]["Status"] == "Failure" for m in machines)
    fault = await _fault(ctx, name, wish.name) if short else None
    return Waiting(
        f"{words} {fault}" if fault else words,
        attention=fault,
        poll_after=30.0,
        counts=not checking,
        in_flight=InFlight(
            what=f"HyperPod goes on launching {wish.count} {wish.instance_type} in {name}.",
            undo=f"aws sagemaker delete-cluster --cluster-name {name}",
        ),
    )


def _checking(machines: list[Doc], nodes: list[Doc]) -> int:
    """Machines under deep health checks, by whichever of both sides says so."""
    by_status = sum(1 for m in machines if m["InstanceStatus"]["Status"] == CHECKING)
    by_label = sum(1 for n in nodes if (n["metadata"].get("labels") or {}).get(CHECK_LABEL) == "InProgress")
    return max(by_status, by_label)


async def _fault(ctx: StageContext, cluster: str, group: str) -> str | None:
    """Why machines are missing: the newest error of the group; its cause stands only in the event's details."""
    since = ctx.clock.now() - timedelta(seconds=_RECENT_SECONDS)
    found = newest_error(
        await sagemaker.list_events(ctx.services.aws, cluster, InstanceGroupName=group, EventTimeAfter=since)
    )
    if found is None:
        return None
    details = await sagemaker.describe_event(ctx.services.aws, cluster, found["EventId"])
    return cause(details) or str(found.get("Description") or "HyperPod reports an error without a reason.")
