"""UpdateCluster: what may change in a cluster and its groups, in both readings of what a list of groups means."""

from __future__ import annotations

from typing import Any

from instantstart_sandbox.aws.registry import CallContext, Handler, Params
from instantstart_sandbox.aws.sagemaker import checks
from instantstart_sandbox.aws.sagemaker.clusters import TIERED_LAG, group_doc
from instantstart_sandbox.aws.sagemaker.events import Events
from instantstart_sandbox.aws.sagemaker.fleet import Fleet
from instantstart_sandbox.aws.sagemaker.parts import Doc, Parts, invalid, is_continuous, refuse

MODE = "sagemaker.update_mode"
"""Meta value: `upsert` (a group that is left out stays) or `replace` (it is removed)."""
_AUTOSCALING = "sagemaker.autoscaling"
_FIXED = (
    "InstanceType",
    "InstanceRequirements",
    "OverrideVpcConfig",
    "CapacityRequirements",
    "NetworkInterface",
    "ExecutionRole",
    "TrainingPlanArn",
    "InstanceStorageConfigs",
)


class Updates:
    """The one operation, and AutoScaling's own little life."""

    def __init__(self, parts: Parts, events: Events, fleet: Fleet) -> None:
        self.parts, self.world, self.events, self.fleet = parts, parts.world, events, fleet
        self.operations: dict[str, Handler] = {"UpdateCluster": self.update}
        self.world.timers.on(_AUTOSCALING, self._autoscaling_done)

    def update(self, ctx: CallContext, params: Params) -> dict[str, Any]:
        """Declare what the cluster should be. Refused unless it is InService."""
        cluster = self.parts.cluster(params["ClusterName"])
        if cluster["ClusterStatus"] != "InService":
            text = f"Cluster {cluster['ClusterName']} is in status {cluster['ClusterStatus']} and cannot be updated."
            refuse("ConflictException", text)
        if params.get("RestrictedInstanceGroups"):
            invalid(
                "Found RestrictedInstanceGroups in the cluster input. Please remove RestrictedInstanceGroups from the "
                "request and try again."
            )
        given = {g["InstanceGroupName"]: g for g in params.get("InstanceGroups") or []}
        removed = self._removed(cluster, params, given)
        self._check(cluster, given)
        changed = self._settings(dict(cluster), params)
        changed = self._groups(changed, given, removed)
        if changed == cluster:
            invalid("The update request contains no changes to the cluster.")
        if not is_continuous(changed):
            changed.update(ClusterStatus="Updating", ready=True)
            changed.pop("FailureMessage", None)
        self.parts.save(changed)
        self._begin(changed, given, removed)
        del ctx
        return {"ClusterArn": cluster["ClusterArn"]}

    def _removed(self, cluster: Doc, params: Params, given: Doc) -> list[str]:
        removed = list(params.get("InstanceGroupsToDelete") or [])
        for name in removed:
            if name not in cluster["groups"]:
                invalid(f"Instance group {name} does not exist in cluster {cluster['ClusterName']}.")
            if name in given:
                invalid(f"Instance group {name} is both in InstanceGroups and in InstanceGroupsToDelete.")
        if given and self.world.store.meta(MODE, "upsert") == "replace":
            removed += [g for g in cluster["groups"] if g not in given and g not in removed]
        return removed

    def _check(self, cluster: Doc, given: Doc) -> None:
        eks = self.world.store.get("eks.cluster", cluster["eks"])
        if eks is None:
            invalid(f"EKS cluster {cluster['eks']} could not be found.")
        for name, spec in given.items():
            checks.group(self.parts, spec, cluster, eks)
            held = cluster["groups"].get(name)
            if held is not None:
                self._unchanged(held["spec"], spec)
                if held["status"] in ("Deleting", "SystemUpdating"):
                    refuse("ConflictException", f"Instance group {name} is in status {held['status']}.")
                self._no_checks_running(cluster, name)
        more = [
            (spec, spec["InstanceCount"] - cluster["groups"].get(name, {"target": 0})["target"])
            for name, spec in given.items()
        ]
        checks.quotas(self.parts, more, cluster["ClusterName"])

    def _unchanged(self, before: Doc, spec: Doc) -> None:
        for member in _FIXED:
            if before.get(member) != spec.get(member) and not (member == "InstanceRequirements" and spec.get(member)):
                invalid(f"Updating fields {member} on an InstanceGroup not supported")
        if before.get("ThreadsPerCore", 2) != spec.get("ThreadsPerCore", 2):
            invalid("Updating fields ThreadsPerCore on an InstanceGroup not supported")

    def _no_checks_running(self, cluster: Doc, group: str) -> None:
        nodes = self.parts.nodes(cluster["ClusterName"], group)
        if any(n["status"] == "DeepHealthCheckInProgress" for n in nodes):
            refuse("ConflictException", f"Deep health checks are in progress in instance group {group}.")

    def _settings(self, cluster: Doc, params: Params) -> Doc:
        for member in ("NodeRecovery", "ClusterRole", "NodeProvisioningMode"):
            if params.get(member) is not None:
                cluster[member] = params[member]
        tiered = params.get("TieredStorageConfig")
        if tiered is not None and tiered != cluster.get("TieredStorageConfig"):
            cluster["TieredStorageConfig"] = tiered
            cluster["tiered_shown_after"] = self.world.clock.time() + TIERED_LAG
        asked = params.get("AutoScaling")
        if asked is not None and asked["Mode"] != cluster.get("AutoScaling", {}).get("Mode", "Disable"):
            checks.autoscaling(self.parts, {**cluster, "AutoScaling": asked})
            status = "Creating" if asked["Mode"] == "Enable" else "Deleting"
            cluster["AutoScaling"] = {"AutoScalerType": "Karpenter", **asked, "Status": status}
            self.world.timers.after(self.parts.between(120, 240), _AUTOSCALING, cluster["ClusterName"])
        return cluster

    def _groups(self, cluster: Doc, given: Doc, removed: list[str]) -> Doc:
        groups = dict(cluster["groups"])
        for name, spec in given.items():
            held = groups.get(name)
            if held is None:
                status = "InService" if is_continuous(cluster) and not spec.get("MinInstanceCount") else "Creating"
                groups[name] = group_doc(spec, status)
            elif (held["spec"], held["target"], held["min"]) != (
                spec,
                spec["InstanceCount"],
                spec.get("MinInstanceCount"),
            ):
                waits = spec.get("MinInstanceCount") or not is_continuous(cluster)
                groups[name] = {
                    **group_doc(spec, "Updating" if waits else "InService"),
                    "before": {"target": held["target"], "min": held["min"]},
                    "logical": held.get("logical", []),
                }
        for name in removed:
            groups[name] = {**groups[name], "target": 0, "min": None, "status": "Deleting"}
        return {**cluster, "groups": groups}

    def _begin(self, cluster: Doc, given: Doc, removed: list[str]) -> None:
        name = cluster["ClusterName"]
        self.events.add(cluster, f"Cluster {name} update started")
        for group in [*given, *removed]:
            verb = "deletion" if group in removed else "update"
            self.events.add(cluster, f"Instance Group {group} {verb} in Cluster {name} started", group=group)
            self.fleet.reconcile(name, group, after=10)
            if cluster["groups"][group].get("min"):
                self.fleet.await_minimum(name, group)
        self.world.work.enqueue("sagemaker.cluster", name)

    def _autoscaling_done(self, name: str, _payload: dict[str, Any]) -> None:
        cluster = self.parts.find(name)
        if cluster is None or "AutoScaling" not in cluster:
            return
        if cluster["AutoScaling"]["Mode"] == "Enable":
            state = {**cluster["AutoScaling"], "Status": "InService"}
            self.parts.save({**cluster, "AutoScaling": state})
            self.events.add(cluster, f"AutoScaling creation in Cluster {name} completed successfully")
        else:
            self.parts.save({k: v for k, v in cluster.items() if k != "AutoScaling"})
