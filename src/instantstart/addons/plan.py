"""Specs of the add-on stages, for the journeys that compose them. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from instantstart.addons.rules import CHART, CHART_NAMESPACE, CORE, DEPENDENCIES, STORAGE, Addon
from instantstart.core.plan import PlannedObject, StageSpec

REQUEST, AWAIT = "request_addons", "await_addons"
REMOVE, AWAIT_REMOVED = "remove_addons", "await_addons_removed"
CHART_STAGE, REMOVE_CHART = "ensure_dependency_chart", "remove_dependency_chart"
AWAIT_ALL, VERIFY = "await_dependencies", "verify_dependencies"
_ADDON_DEADLINE = 30 * 60


def core_specs(
    tag: str, *, eks_cluster: str, needs: Sequence[str] = ("ensure_access_entry",), step: str = "eks"
) -> list[StageSpec]:
    """request_core_addons and await_core_addons."""
    return addon_specs("core", tag, CORE, eks_cluster=eks_cluster, needs=needs, step=step, title="Core add-ons")


def storage_addon_specs(
    tag: str, *, eks_cluster: str, needs: Sequence[str] = ("ensure_storage_identity",), step: str = "storage"
) -> list[StageSpec]:
    """request_storage_addon and await_storage_addon: the S3 CSI driver."""
    request, wait = addon_specs("s", tag, STORAGE, eks_cluster=eks_cluster, needs=needs, step=step, title="S3 driver")
    names = {request.name: "request_storage_addon", wait.name: "await_storage_addon"}
    rerun = {"rerun": list(names.values())}
    return [
        request.model_copy(update={"name": names[request.name], "params": request.params | rerun}),
        wait.model_copy(
            update={"name": names[wait.name], "needs": [names[request.name]], "params": wait.params | rerun}
        ),
    ]


def addon_specs(
    group: str, tag: str, addons: Sequence[Addon], *, eks_cluster: str, needs: Sequence[str], step: str, title: str
) -> list[StageSpec]:
    """request_<group>_addons and await_<group>_addons."""
    request, wait = f"request_{group}_addons", f"await_{group}_addons"
    params = {
        "tag": tag,
        "eks_cluster": eks_cluster,
        "addons": [a.name for a in addons],
        "rerun": [request, wait],
    }
    return [
        StageSpec(
            name=request,
            step=step,
            title=f"Ask for {title[:1].lower()}{title[1:]}" if title[:2] != "S3" else f"Ask for the {title}",
            needs=list(needs),
            definition=REQUEST,
            params=params,
        ),
        StageSpec(
            name=wait,
            step=step,
            title=title,
            needs=[request],
            definition=AWAIT,
            params=params,
            typical_seconds=60,
            deadline_seconds=_ADDON_DEADLINE,
        ),
    ]


def dependency_specs(
    tag: str, *, eks_cluster: str, region: str, needs: Sequence[str], step: str = "dependencies"
) -> list[StageSpec]:
    """request_dependency_addons, ensure_dependency_chart (side by side), await_dependencies."""
    request = addon_specs(
        "dependency", tag, DEPENDENCIES, eks_cluster=eks_cluster, needs=needs, step=step, title="Dependency add-ons"
    )[0]
    request.params["rerun"] = [request.name, AWAIT_ALL]
    chart = StageSpec(
        name=CHART_STAGE,
        step=step,
        title="HyperPod dependency chart",
        needs=list(needs),
        definition=CHART_STAGE,
        params={"tag": tag, "eks_cluster": eks_cluster, "region": region},
        typical_seconds=20,
    )
    wait = StageSpec(
        name=AWAIT_ALL,
        step=step,
        title="Dependencies are in place",
        needs=[request.name, CHART_STAGE],
        definition=AWAIT_ALL,
        params={
            "tag": tag,
            "eks_cluster": eks_cluster,
            "addons": [a.name for a in DEPENDENCIES],
            "rerun": [request.name, AWAIT_ALL],
        },
        typical_seconds=60,
        deadline_seconds=_ADDON_DEADLINE,
    )
    return [request, chart, wait]


def verify_spec(tag: str, *, eks_cluster: str, needs: Sequence[str], step: str = "hyperpod") -> StageSpec:
    """verify_dependencies: with nodes there, everything must be healthy."""
    return StageSpec(
        name=VERIFY,
        step=step,
        title="Dependencies are healthy",
        needs=list(needs),
        definition=VERIFY,
        params={"tag": tag, "eks_cluster": eks_cluster, "addons": [a.name for a in (*CORE, *DEPENDENCIES)]},
        typical_seconds=60,
        deadline_seconds=_ADDON_DEADLINE,
    )


def removal_specs(
    tag: str, *, eks_cluster: str, addons: Sequence[str], needs: Sequence[str] = (), step: str = "dependencies"
) -> list[StageSpec]:
    """remove_addons and await_addons_removed; only ours go."""
    params = {"tag": tag, "eks_cluster": eks_cluster, "addons": list(addons)}
    return [
        StageSpec(
            name=REMOVE,
            step=step,
            title=f"Ask for the removal of {', '.join(addons)}",
            needs=list(needs),
            definition=REMOVE,
            params=params,
        ),
        StageSpec(
            name=AWAIT_REMOVED,
            step=step,
            title="The add-ons are gone",
            needs=[REMOVE],
            definition=AWAIT_REMOVED,
            params=params,
            typical_seconds=30,
        ),
    ]


def chart_removal_spec(
    tag: str, *, eks_cluster: str, needs: Sequence[str] = (), step: str = "dependencies"
) -> StageSpec:
    """remove_dependency_chart; a release of others stays."""
    return StageSpec(
        name=REMOVE_CHART,
        step=step,
        title="Remove the HyperPod dependency chart",
        needs=list(needs),
        definition=REMOVE_CHART,
        params={"tag": tag, "eks_cluster": eks_cluster},
        typical_seconds=20,
    )


def addon_objects(addons: Sequence[Addon], eks_cluster: str) -> list[PlannedObject]:
    """The add-ons as planned objects."""
    return [
        PlannedObject(kind="AWS::EKS::Addon", name=f"{eks_cluster}/{a.name}", action="create", where="aws")
        for a in addons
    ]


def dependency_objects(eks_cluster: str) -> list[PlannedObject]:
    """Dependency add-ons and the chart, for the plan."""
    detail = "Device plugins, health monitoring agent, training operators"
    chart = PlannedObject(
        kind="Helm release", name=f"{CHART_NAMESPACE}/{CHART}", action="create", where="kubernetes", detail=detail
    )
    return [*addon_objects(DEPENDENCIES, eks_cluster), chart]
