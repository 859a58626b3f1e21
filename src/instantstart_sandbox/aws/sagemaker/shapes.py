"""Documents to what Describe and List show, which often has other names than what Create takes."""

from __future__ import annotations

from typing import Any

from instantstart_sandbox.aws.sagemaker.parts import Doc, Parts

IMAGE = "ami-0f1e2d3c4b5a69788"
IMAGE_VERSION = "1.4.2"
_SAME = (
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


def group(parts: Parts, cluster: Doc, held: Doc) -> dict[str, Any]:
    """ClusterInstanceGroupDetails."""
    spec = held["spec"]
    nodes = parts.nodes(cluster["ClusterName"], spec["InstanceGroupName"])
    current = sum(1 for n in nodes if n["status"] in ("Running", "SystemUpdating"))
    found: dict[str, Any] = {k: spec[k] for k in _SAME if k in spec}
    found.update(CurrentCount=current, TargetCount=held["target"], Status=held["status"])
    found.setdefault("ThreadsPerCore", 2)
    if held.get("min") is not None:
        found["MinCount"] = held["min"]
    types = (spec.get("InstanceRequirements") or {}).get("InstanceTypes")
    if types:
        found["InstanceRequirements"] = {"CurrentInstanceTypes": types, "DesiredInstanceTypes": types}
    kinds = types or [spec["InstanceType"]]
    found["InstanceTypeDetails"] = [
        {
            "InstanceType": kind,
            "CurrentCount": sum(1 for n in nodes if n["instance_type"] == kind and n["status"] == "Running"),
            "ThreadsPerCore": found["ThreadsPerCore"],
        }
        for kind in kinds
    ]
    image = spec.get("ImageId")
    found["CurrentImageId"] = found["DesiredImageId"] = IMAGE if image in (None, "default") else image
    found["CurrentImageReleaseVersion"] = found["DesiredImageReleaseVersion"] = IMAGE_VERSION
    found["ImageVersionStatus"] = "UpToDate"
    if current != held["target"]:
        found["ActiveOperations"] = {"Scaling": 1}
    _kubernetes(spec, found)
    if spec.get("AutoPatchConfig"):
        patch = {k: v for k, v in spec["AutoPatchConfig"].items() if k != "PatchSchedule"}
        schedule = spec["AutoPatchConfig"].get("PatchSchedule")
        found["AutoPatchConfig"] = {**patch, **({"DesiredPatchSchedule": schedule} if schedule else {})}
    if spec.get("TrainingPlanArn"):
        found["TrainingPlanStatus"] = "Active"
    return found


def _kubernetes(spec: Doc, found: dict[str, Any]) -> None:
    asked = spec.get("KubernetesConfig")
    if asked:
        labels, taints = asked.get("Labels") or {}, asked.get("Taints") or []
        found["KubernetesConfig"] = {
            "CurrentLabels": labels,
            "DesiredLabels": labels,
            "CurrentTaints": taints,
            "DesiredTaints": taints,
        }


def cluster(parts: Parts, doc: Doc) -> dict[str, Any]:
    """DescribeCluster's answer."""
    members = (
        "ClusterArn",
        "ClusterName",
        "ClusterStatus",
        "CreationTime",
        "FailureMessage",
        "VpcConfig",
        "Orchestrator",
        "NodeRecovery",
        "NodeProvisioningMode",
        "ClusterRole",
        "AutoScaling",
    )
    found = {k: doc[k] for k in members if doc.get(k) is not None}
    found["InstanceGroups"] = [group(parts, doc, g) for g in doc["groups"].values()]
    if doc.get("TieredStorageConfig") and doc.get("tiered_shown_after", 0) <= parts.world.clock.time():
        found["TieredStorageConfig"] = doc["TieredStorageConfig"]
    return found


def summary(doc: Doc) -> dict[str, Any]:
    """ListClusters' row."""
    plans = [g["spec"]["TrainingPlanArn"] for g in doc["groups"].values() if g["spec"].get("TrainingPlanArn")]
    found = {k: doc[k] for k in ("ClusterArn", "ClusterName", "CreationTime", "ClusterStatus")}
    return {**found, "TrainingPlanArns": plans, "ImageVersionStatus": "UpToDate"}


def _status(node: Doc) -> dict[str, Any]:
    shown = {"Status": node["status"]}
    return {**shown, "Message": node["message"]} if node.get("message") else shown


def node_summary(node: Doc, *, logical: bool) -> dict[str, Any]:
    """ListClusterNodes' row: no zone and no address."""
    found = {
        "InstanceGroupName": node["group"],
        "InstanceId": node["instance_id"],
        "InstanceType": node["instance_type"],
        "LaunchTime": node["launched"],
        "InstanceStatus": _status(node),
        "PrivateDnsHostname": hostname(node),
        "CurrentImageReleaseVersion": IMAGE_VERSION,
        "ImageVersionStatus": "UpToDate",
    }
    return {**found, "NodeLogicalId": node["logical_id"]} if logical else found


def hostname(node: Doc) -> str:
    """The node's private DNS name."""
    return f"ip-{node['private_ip'].replace('.', '-')}.us-west-2.compute.internal"


def node_details(node: Doc, held: Doc) -> dict[str, Any]:
    """DescribeClusterNode's NodeDetails."""
    spec = held["spec"]
    found = {
        "InstanceGroupName": node["group"],
        "InstanceId": node["instance_id"],
        "NodeLogicalId": node["logical_id"],
        "InstanceStatus": _status(node),
        "InstanceType": node["instance_type"],
        "LaunchTime": node["launched"],
        "LifeCycleConfig": spec.get("LifeCycleConfig"),
        "OverrideVpcConfig": spec.get("OverrideVpcConfig"),
        "ThreadsPerCore": spec.get("ThreadsPerCore", 2),
        "InstanceStorageConfigs": spec.get("InstanceStorageConfigs"),
        "PrivatePrimaryIp": node["private_ip"],
        "PrivateDnsHostname": hostname(node),
        "Placement": {"AvailabilityZone": node["zone"], "AvailabilityZoneId": node["zone_id"]},
        "CurrentImageId": IMAGE,
        "DesiredImageId": IMAGE,
        "CurrentImageReleaseVersion": IMAGE_VERSION,
        "DesiredImageReleaseVersion": IMAGE_VERSION,
        "ImageVersionStatus": "UpToDate",
        "CapacityType": "Spot" if node["capacity_type"] == "Spot" else "OnDemand",
        "NetworkInterface": spec.get("NetworkInterface"),
    }
    _kubernetes(spec, found)
    return {k: v for k, v in found.items() if v is not None}
