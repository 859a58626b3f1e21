"""Instance groups as requests: a new one from a wish, and one that stands said again field by field. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from instantstart.core.instances import facts_of, threads_per_core
from instantstart.instance_groups.schema import CapacityType, GroupView

Doc = dict[str, Any]
_CHECKS = {"instance_stress": "InstanceStress", "instance_connectivity": "InstanceConnectivity"}
_CARRIED = (
    "InstanceGroupName",
    "InstanceType",
    "LifeCycleConfig",
    "ExecutionRole",
    "ThreadsPerCore",
    "InstanceStorageConfigs",
    "OnStartDeepHealthChecks",
    "TrainingPlanArn",
    "OverrideVpcConfig",
    "ScheduledUpdateConfig",
    "CapacityRequirements",
    "NetworkInterface",
)
"""Members that Describe and Update call the same. Whatever is not carried here is lost when a group is sent again."""
_DATA_GB, _DATA_GB_WITHOUT_ACCELERATOR = 500, 100


@dataclass(frozen=True)
class GroupWish:
    """What is asked of the nodes of one group."""

    name: str
    instance_type: str
    count: int
    capacity_type: CapacityType
    training_plan: str | None = None
    interface_mode: str | None = None
    deep_health_checks: tuple[str, ...] = ()


def group_name(tag: str) -> str:
    """Name of the group that a cluster is created with."""
    return f"{tag}-ig"


def new_group(
    wish: GroupWish, *, execution_role: str, subnet_id: str, security_group_id: str, source: str, script: str
) -> Doc:
    """ClusterInstanceGroupSpecification. `source` is the s3:// folder of the lifecycle script, `script` its name."""
    facts = facts_of(wish.instance_type)
    volume = _DATA_GB if facts and facts.accelerator else _DATA_GB_WITHOUT_ACCELERATOR
    spec: Doc = {
        "InstanceGroupName": wish.name,
        "InstanceType": wish.instance_type,
        "InstanceCount": wish.count,
        "LifeCycleConfig": {"SourceS3Uri": source, "OnCreate": script},
        "ExecutionRole": execution_role,
        "ThreadsPerCore": threads_per_core(wish.instance_type),
        "InstanceStorageConfigs": [{"EbsVolumeConfig": {"VolumeSizeInGB": volume}}],
        "OverrideVpcConfig": {"SecurityGroupIds": [security_group_id], "Subnets": [subnet_id]},
    }
    if wish.capacity_type == "spot":
        spec["CapacityRequirements"] = {"Spot": {}}
    if wish.training_plan:
        spec["TrainingPlanArn"] = wish.training_plan
    if wish.interface_mode:
        spec["NetworkInterface"] = {"InterfaceType": wish.interface_mode}
    if wish.deep_health_checks:
        spec["OnStartDeepHealthChecks"] = [_CHECKS[c] for c in wish.deep_health_checks]
    return spec


def rebuild(group: Doc, *, count: int | None = None) -> Doc:
    """The specification that says again what DescribeCluster shows of a group, with another count if one is given.

    Describe has other names than Update: TargetCount is InstanceCount, MinCount is MinInstanceCount, Desired… is …
    """
    spec = {name: group[name] for name in _CARRIED if group.get(name) is not None}
    spec["InstanceCount"] = group["TargetCount"] if count is None else count
    if group.get("MinCount"):
        spec["MinInstanceCount"] = min(group["MinCount"], spec["InstanceCount"])
    if types := (group.get("InstanceRequirements") or {}).get("DesiredInstanceTypes"):
        spec["InstanceRequirements"] = {"InstanceTypes": types}
        spec.pop("InstanceType", None)
    if kubernetes := _kubernetes(group.get("KubernetesConfig") or {}):
        spec["KubernetesConfig"] = kubernetes
    if patching := _patching(group.get("AutoPatchConfig") or {}):
        spec["AutoPatchConfig"] = patching
    return spec


def _kubernetes(config: Doc) -> Doc:
    wanted = {"Labels": config.get("DesiredLabels"), "Taints": config.get("DesiredTaints")}
    return {name: value for name, value in wanted.items() if value}


def _patching(config: Doc) -> Doc:
    carried = {k: v for k, v in config.items() if k not in ("CurrentPatchSchedule", "DesiredPatchSchedule")}
    schedule = config.get("DesiredPatchSchedule")
    return carried | ({"PatchSchedule": schedule} if schedule else {})


def view(group: Doc, zones: dict[str, str], subnet_id: str | None = None) -> GroupView:
    """A group of DescribeCluster as a view. `zones` are zone names by subnet, `subnet_id` the cluster's own subnet."""
    subnets = (group.get("OverrideVpcConfig") or {}).get("Subnets") or [subnet_id]
    return GroupView(
        name=group["InstanceGroupName"],
        status=group["Status"],
        instance_type=group.get("InstanceType") or _types(group),
        current=group["CurrentCount"],
        target=group["TargetCount"],
        capacity_type=capacity_type(group),
        interface_mode=(group.get("NetworkInterface") or {}).get("InterfaceType"),
        training_plan=group.get("TrainingPlanArn"),
        subnet_id=subnets[0],
        zone=zones.get(subnets[0] or ""),
        deep_health_checks=checks(group),
    )


def checks(group: Doc) -> list[str]:
    """Deep health checks in our words."""
    words = {aws: ours for ours, aws in _CHECKS.items()}
    return [words.get(c, c) for c in group.get("OnStartDeepHealthChecks") or []]


def capacity_type(group: Doc) -> CapacityType:
    """How a group's machines are had."""
    if group.get("TrainingPlanArn"):
        return "training_plan"
    return "spot" if "Spot" in (group.get("CapacityRequirements") or {}) else "on_demand"


def differences(group: Doc, wish: GroupWish) -> dict[str, tuple[Any, Any]]:
    """Request fields in which a standing group is not what is asked for: `{field: (live, desired)}`."""
    live = {
        "instance_type": group.get("InstanceType"),
        "instance_count": group["TargetCount"],
        "capacity_type": capacity_type(group),
        "training_plan": group.get("TrainingPlanArn"),
        "interface_mode": (group.get("NetworkInterface") or {}).get("InterfaceType"),
        "deep_health_checks": sorted(checks(group)),
    }
    desired = {
        "instance_type": wish.instance_type,
        "instance_count": wish.count,
        "capacity_type": wish.capacity_type,
        "training_plan": wish.training_plan,
        "interface_mode": wish.interface_mode,
        "deep_health_checks": sorted(wish.deep_health_checks),
    }
    return {k: (live[k], desired[k]) for k in live if live[k] != desired[k]}


def _types(group: Doc) -> str:
    needs = group.get("InstanceRequirements") or {}
    types = needs.get("DesiredInstanceTypes") or needs.get("CurrentInstanceTypes") or []
    return ", ".join(types)
