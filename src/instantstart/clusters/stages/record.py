"""Stages that change only our own record: select for the asker, and take a deleted cluster off."""

from __future__ import annotations

from instantstart.clusters import registry
from instantstart.clusters.specs import REMOVE_RECORD, SELECT
from instantstart.operations.stage import Done, Result, StageContext, Unchanged, stage


@stage(SELECT)
async def select_cluster(ctx: StageContext) -> Result:
    """Select the cluster for whoever asked for the operation, and for nobody else. Outputs: principal."""
    changed = await registry.choose(ctx.db, ctx.principal, ctx.params["tag"], ctx.clock.time())
    outputs = {"principal": ctx.principal}
    return Done(outputs) if changed else Unchanged(outputs)


@stage(REMOVE_RECORD)
async def remove_cluster_record(ctx: StageContext) -> Result:
    """The cluster is gone: off the record, and selected by nobody."""
    changed = await registry.forget(ctx.db, ctx.params["tag"], ctx.clock.time())
    return Done() if changed else Unchanged()
