"""Looks at a cluster after each change of its nodes and decides what it and its groups are now."""

from __future__ import annotations

from instantstart_sandbox.aws.sagemaker.events import Events
from instantstart_sandbox.aws.sagemaker.fleet import Fleet
from instantstart_sandbox.aws.sagemaker.parts import Doc, Parts, is_continuous

_WORK = "sagemaker.cluster"


class Settling:
    """Level-triggered: the present documents decide, not what happened."""

    def __init__(self, parts: Parts, events: Events, fleet: Fleet) -> None:
        self.parts, self.world, self.events, self.fleet = parts, parts.world, events, fleet
        self.world.work.on(_WORK, self._look)

    def _look(self, name: str) -> None:
        cluster = self.parts.find(name)
        if cluster is None or cluster["ClusterStatus"] in ("Deleting", "Failed"):
            return
        changed = self._groups(dict(cluster))
        if not is_continuous(changed):
            changed = self._whole(changed)
        if changed != cluster:
            self.parts.save(changed)

    def _running(self, cluster: Doc, group: str) -> int:
        nodes = self.parts.nodes(cluster["ClusterName"], group)
        return sum(1 for n in nodes if n["status"] == "Running")

    def _groups(self, cluster: Doc) -> Doc:
        groups = {}
        for name, held in cluster["groups"].items():
            if held["status"] == "Deleting" and not self.parts.nodes(cluster["ClusterName"], name):
                text = f"Instance Group {name} deletion in Cluster {cluster['ClusterName']} completed successfully"
                self.events.add(cluster, text, group=name)
                continue
            done = held["status"] in ("Creating", "Updating") and is_continuous(cluster)
            if done and held["min"] and self._running(cluster, name) >= held["min"]:
                held = {**{k: v for k, v in held.items() if k != "before"}, "status": "InService"}
            groups[name] = held
        return {**cluster, "groups": groups}

    def _whole(self, cluster: Doc) -> Doc:
        """All or nothing, for a cluster without Continuous."""
        status = cluster["ClusterStatus"]
        if cluster.get("unmet"):
            return self._roll_back(cluster)
        if status not in ("Creating", "Updating", "RollingBack") or not cluster.get("ready"):
            return cluster
        for name, held in cluster["groups"].items():
            if held["status"] == "Deleting" or self._running(cluster, name) != held["target"]:
                return cluster
        groups = {n: {**h, "status": "InService"} for n, h in cluster["groups"].items()}
        return {**cluster, "ClusterStatus": "InService", "groups": groups}

    def _roll_back(self, cluster: Doc) -> Doc:
        cluster = {k: v for k, v in cluster.items() if k != "unmet"}
        if cluster["ClusterStatus"] == "Creating":
            groups = {n: {**h, "target": 0, "status": "Failed"} for n, h in cluster["groups"].items()}
            self._end_nodes(cluster)
            return {**cluster, "ClusterStatus": "Failed", "groups": groups}
        groups = {}
        for name, held in cluster["groups"].items():
            before = held.get("before")
            if before is not None:
                held = {**held, **before, "status": "Updating"}
            elif held["status"] == "Creating":
                held = {**held, "target": 0, "status": "Deleting"}
            groups[name] = held
            self.fleet.reconcile(cluster["ClusterName"], name)
        self._end_failed(cluster)
        return {**cluster, "ClusterStatus": "RollingBack", "groups": groups}

    def _end_nodes(self, cluster: Doc) -> None:
        for node in self.parts.nodes(cluster["ClusterName"]):
            if node["status"] != "ShuttingDown":
                self.fleet.terminate(cluster, node)

    def _end_failed(self, cluster: Doc) -> None:
        for node in self.parts.nodes(cluster["ClusterName"]):
            if node["status"] == "Failure":
                self.fleet.terminate(cluster, node)
