"""Stages of HyperPod's dependency chart: install or adopt it, see that it runs, and the mirror."""

from __future__ import annotations

from typing import Any

from instantstart.addons import rules
from instantstart.addons.observe import count_schedulable, find_release, unready_workloads
from instantstart.addons.plan import CHART_STAGE, REMOVE_CHART, VERIFY
from instantstart.addons.problems import CHART_FOREIGN_FAILED
from instantstart.aws import eks
from instantstart.kube.releases import Release
from instantstart.operations.stage import Done, Result, StageContext, Unchanged, Unproven, Waiting, stage

Doc = dict[str, Any]
_INSTALL_SECONDS = 180.0
_ATTENTION_AFTER = 300.0


@stage(CHART_STAGE, effects=("absolute helm:upgrade",))
async def ensure_dependency_chart(ctx: StageContext) -> Result:
    """The chart is installed with our values, or somebody's release of it stands. Outputs: release, revision, owner."""
    helm, cluster = ctx.services.helm, ctx.params["eks_cluster"]
    values = rules.chart_values(ctx.params["region"])
    found = await standing(ctx)
    if found is not None and not found.ours:
        return _adopt(found)
    if helm.installed(found, rules.CHART, values):
        return Unchanged(_outputs(found))
    await ctx.say("Helm is installing the chart.")
    answer = await ctx.effect(
        "absolute",
        "helm:upgrade",
        f"{cluster}/{rules.CHART_NAMESPACE}/{rules.CHART}",
        lambda: helm.upgrade_install(
            cluster, rules.CHART_NAMESPACE, rules.CHART, rules.CHART, values, _INSTALL_SECONDS
        ),
        timeout=_INSTALL_SECONDS + 70.0,
    )
    return Done({**answer, "owner": "instantstart"})


@stage(REMOVE_CHART, effects=("named helm:uninstall",))
async def remove_dependency_chart(ctx: StageContext) -> Result:
    """Uninstall our release; a release of others stays, and without a cluster there is nothing to do."""
    helm, cluster = ctx.services.helm, ctx.params["eks_cluster"]
    if await eks.describe_cluster(ctx.services.aws, cluster) is None:
        return Unchanged()
    found = await helm.status(cluster, rules.CHART_NAMESPACE, rules.CHART)
    if found is None or not found.ours:
        return Unchanged()
    await ctx.effect(
        "named",
        "helm:uninstall",
        f"{cluster}/{rules.CHART_NAMESPACE}/{rules.CHART}",
        lambda: helm.uninstall(cluster, rules.CHART_NAMESPACE, rules.CHART),
        timeout=70.0,
    )
    return Done()


@stage(VERIFY)
async def verify_dependencies(ctx: StageContext) -> Result:
    """With nodes there: every add-on ACTIVE, every workload of the chart ready."""
    cluster = ctx.params["eks_cluster"]
    if await count_schedulable(ctx.services, cluster) == 0:
        return Unproven("There is no schedulable node, so the dependencies cannot run.")
    open_ones = []
    for name in ctx.params["addons"]:
        found = await eks.describe_addon(ctx.services.aws, cluster, name)
        if found is None:
            open_ones.append(f"{name} is not installed")
        elif found["status"] != "ACTIVE":
            open_ones.append(f"{name} is {found['status']} ({rules.says(found) or 'no reason was given'})")
    release = await standing(ctx)
    if release is None:
        open_ones.append("the HyperPod chart is not installed")
    else:
        open_ones += await unready_workloads(ctx.services, cluster, release)
    if not open_ones:
        return Done(message="Everything is healthy.")
    said = "; ".join(open_ones[:5])
    return Waiting(f"{said}.", attention=said if ctx.waited > _ATTENTION_AFTER else None, poll_after=15.0)


async def standing(ctx: StageContext) -> Release | None:
    """The release of the chart in the cluster, ours or another's."""
    return await find_release(ctx.services, ctx.params["eks_cluster"])


def owner(release: Release) -> str:
    """Who installed a release."""
    return "instantstart" if release.ours else "other"


def _adopt(found: Release) -> Result:
    if found.status == "deployed":
        detail = f"Release {found.name} in {found.namespace}, which somebody else installed, is used as it is."
        return Unchanged(_outputs(found), detail)
    if found.pending:
        return Waiting(f"Release {found.name} in {found.namespace} of somebody else is {found.status}.")
    raise CHART_FOREIGN_FAILED(
        f"Release {found.name} in {found.namespace} is {found.status}: {found.description}",
        data={"release": found.name, "namespace": found.namespace},
    )


def _outputs(release: Release | None) -> Doc:
    if release is None:
        return {}
    return {
        "release": release.name,
        "namespace": release.namespace,
        "revision": release.revision,
        "status": release.status,
        "owner": owner(release),
    }
