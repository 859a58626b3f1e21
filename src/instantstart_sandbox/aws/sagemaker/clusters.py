"""HyperPod clusters: creation, reading, deletion, and what becomes of a cluster while its nodes come and go."""

from __future__ import annotations

from typing import Any

from instantstart_sandbox.aws.paging import page
from instantstart_sandbox.aws.registry import CallContext, Handler, Params
from instantstart_sandbox.aws.sagemaker import access, checks, shapes
from instantstart_sandbox.aws.sagemaker.events import Events
from instantstart_sandbox.aws.sagemaker.fleet import Fleet
from instantstart_sandbox.aws.sagemaker.parts import CLUSTER, Doc, Parts, is_continuous, refuse

_STEP = "sagemaker.cluster"
TIERED_LAG = 45.0
BUSY = ("Creating", "Updating", "SystemUpdating", "RollingBack", "Deleting")


def group_doc(spec: Doc, status: str) -> Doc:
    """A group as the cluster's document holds it."""
    return {"spec": spec, "target": spec["InstanceCount"], "min": spec.get("MinInstanceCount"), "status": status}


class Clusters:
    """Operations on clusters, except for updates."""

    def __init__(self, parts: Parts, events: Events, fleet: Fleet) -> None:
        self.parts, self.world, self.events, self.fleet = parts, parts.world, events, fleet
        self.operations: dict[str, Handler] = {
            "CreateCluster": self.create,
            "DescribeCluster": self.describe,
            "ListClusters": self.list,
            "DeleteCluster": self.delete,
        }
        self.world.timers.on(_STEP, self._step)

    def create(self, _ctx: CallContext, params: Params) -> dict[str, Any]:
        """Begin a cluster. There is no client token: a second call is ResourceInUse."""
        eks = checks.new_cluster(self.parts, params)
        groups = params["InstanceGroups"]
        for spec in groups:
            checks.group(self.parts, spec, params, eks)
        name = params["ClusterName"]
        checks.quotas(self.parts, [(g, g["InstanceCount"]) for g in groups], name)
        cluster = self._new(params, eks)
        self.parts.save(cluster)
        self.events.add(cluster, f"Cluster {name} creation started")
        for spec in groups:
            group = spec["InstanceGroupName"]
            self.events.add(cluster, f"Instance Group {group} creation in Cluster {name} started", group=group)
            if spec.get("MinInstanceCount"):
                self.fleet.await_minimum(name, group)
        self.world.timers.after(60, _STEP, name, to="launch")
        return {"ClusterArn": cluster["ClusterArn"]}

    def _new(self, params: Params, eks: Doc) -> Doc:
        cluster_id, now = self.world.ids.text(12), self.world.clock.time()
        tiered = params.get("TieredStorageConfig")
        cluster = {
            "ClusterArn": self.parts.arn("cluster", cluster_id),
            "ClusterName": params["ClusterName"],
            "cluster_id": cluster_id,
            "ClusterStatus": "Creating",
            "CreationTime": now,
            "VpcConfig": params["VpcConfig"],
            "Orchestrator": params["Orchestrator"],
            "NodeRecovery": params.get("NodeRecovery", "Automatic"),
            "NodeProvisioningMode": params.get("NodeProvisioningMode"),
            "ClusterRole": params.get("ClusterRole"),
            "TieredStorageConfig": tiered,
            "tiered_shown_after": now + TIERED_LAG,
            "groups": {g["InstanceGroupName"]: group_doc(g, "Creating") for g in params["InstanceGroups"]},
            "eks": eks["name"],
            "tags": {t["Key"]: t["Value"] for t in params.get("Tags") or []},
        }
        if params.get("AutoScaling"):
            status = "Creating" if params["AutoScaling"]["Mode"] == "Enable" else "InService"
            cluster["AutoScaling"] = {"AutoScalerType": "Karpenter", **params["AutoScaling"], "Status": status}
        return {k: v for k, v in cluster.items() if v is not None}

    def describe(self, _ctx: CallContext, params: Params) -> dict[str, Any]:
        """One cluster, by name or ARN."""
        return shapes.cluster(self.parts, self.parts.cluster(params["ClusterName"]))

    def list(self, _ctx: CallContext, params: Params) -> dict[str, Any]:
        """Summaries, oldest first unless asked otherwise."""
        after, before = params.get("CreationTimeAfter", 0.0), params.get("CreationTimeBefore", float("inf"))
        found = [
            shapes.summary(c)
            for c in self.world.store.list(CLUSTER)
            if after <= c["CreationTime"] <= before and params.get("NameContains", "") in c["ClusterName"]
        ]
        if params.get("TrainingPlanArn"):
            found = [c for c in found if params["TrainingPlanArn"] in c["TrainingPlanArns"]]
        key = "ClusterName" if params.get("SortBy") == "NAME" else "CreationTime"
        found.sort(key=lambda c: c[key], reverse=params.get("SortOrder") == "Descending")
        question = {k: v for k, v in params.items() if k not in ("NextToken", "MaxResults")}
        items, token = page(found, params.get("MaxResults", 10), params.get("NextToken"), question)
        return {"ClusterSummaries": items, "NextToken": token}

    def delete(self, _ctx: CallContext, params: Params) -> dict[str, Any]:
        """Begin to delete; refused in the middle of a change."""
        cluster = self.parts.cluster(params["ClusterName"])
        if cluster["ClusterStatus"] in BUSY:
            text = f"Cluster {cluster['ClusterName']} is in status {cluster['ClusterStatus']} and cannot be deleted."
            refuse("ConflictException", text)
        name = cluster["ClusterName"]
        groups = {g: {**held, "target": 0, "status": "Deleting"} for g, held in cluster["groups"].items()}
        cluster = self.parts.save({**cluster, "ClusterStatus": "Deleting", "groups": groups})
        self.events.add(cluster, f"Cluster {name} deletion started")
        for node in self.parts.nodes(name):
            if node["status"] != "ShuttingDown":
                self.fleet.terminate(cluster, node)
        self.world.timers.after(self.parts.between(120, 240), _STEP, name, to="end")
        return {"ClusterArn": cluster["ClusterArn"]}

    def _step(self, name: str, payload: dict[str, Any]) -> None:
        cluster = self.parts.find(name)
        if cluster is not None:
            {"launch": self._begin_nodes, "ready": self._ready, "end": self._end}[payload["to"]](dict(cluster))

    def _begin_nodes(self, cluster: Doc) -> None:
        name = cluster["ClusterName"]
        for text in access.join(self.parts, cluster):
            self.events.add(cluster, text)
        for group in cluster["groups"]:
            self.fleet.reconcile(name, group)
        self.world.timers.after(self.parts.between(120, 240), _STEP, name, to="ready")

    def _ready(self, cluster: Doc) -> None:
        """Continuous: in service before the nodes are there. Else: when all of them are."""
        if not is_continuous(cluster):
            self.world.timers.cancel(_STEP, cluster["ClusterName"])
            self.parts.save({**cluster, "ready": True})
            self.world.work.enqueue(_STEP, cluster["ClusterName"])
            return
        groups = {g: {**h, "status": h["status"] if h["min"] else "InService"} for g, h in cluster["groups"].items()}
        if cluster.get("AutoScaling", {}).get("Status") == "Creating":
            cluster["AutoScaling"] = {**cluster["AutoScaling"], "Status": "InService"}
        cluster = self.parts.save({**cluster, "ClusterStatus": "InService", "groups": groups})
        self.events.add(cluster, f"Cluster {cluster['ClusterName']} creation completed successfully")
        self.world.work.enqueue(_STEP, cluster["ClusterName"])

    def _end(self, cluster: Doc) -> None:
        name = cluster["ClusterName"]
        if self.parts.nodes(name):
            self.world.timers.after(15, _STEP, name, to="end")
            return
        access.leave(self.parts, cluster)
        self.events.forget(cluster)
        self.world.store.delete(CLUSTER, name)
