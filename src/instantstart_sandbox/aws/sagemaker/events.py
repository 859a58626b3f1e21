"""The event list of a Continuous cluster; the real cause of a failure is only in an event's details."""

from __future__ import annotations

from typing import Any

from instantstart_sandbox.aws.paging import page
from instantstart_sandbox.aws.registry import CallContext, Handler, Params
from instantstart_sandbox.aws.sagemaker.parts import EVENT, Doc, Parts, invalid, is_continuous, refuse

_KEPT = 500


class Events:
    """Writes events, and answers ListClusterEvents and DescribeClusterEvent."""

    def __init__(self, parts: Parts) -> None:
        self.parts, self.world = parts, parts.world
        self.operations: dict[str, Handler] = {"ListClusterEvents": self.list, "DescribeClusterEvent": self.describe}

    def add(
        self,
        cluster: Doc,
        text: str,
        *,
        level: str = "Info",
        group: str | None = None,
        instance: str | None = None,
        metadata: Doc | None = None,
    ) -> None:
        """Append an event; `metadata` is EventDetails' EventMetadata, one member of the union."""
        if not is_continuous(cluster):
            return
        number = self.world.store.meta("sagemaker.events", 0) + 1
        self.world.store.set_meta("sagemaker.events", number)
        kind = "Instance" if instance else "InstanceGroup" if group else "Cluster"
        doc = {
            "EventId": self.world.ids.uuid(),
            "ClusterArn": cluster["ClusterArn"],
            "ClusterName": cluster["ClusterName"],
            "ResourceType": kind,
            "EventTime": self.world.clock.time(),
            "Description": text,
            "EventLevel": level,
            "number": number,
            "metadata": metadata or {},
        }
        doc.update({k: v for k, v in (("InstanceGroupName", group), ("InstanceId", instance)) if v})
        prefix = f"{cluster['cluster_id']}/"
        self.world.store.put(EVENT, f"{prefix}{number:08d}", doc)
        held = self.world.store.items(EVENT, prefix)
        for key, _ in held[: max(0, len(held) - _KEPT)]:
            self.world.store.delete(EVENT, key)

    def forget(self, cluster: Doc) -> None:
        """Drop the events of a cluster that is gone."""
        for key, _ in self.world.store.items(EVENT, f"{cluster['cluster_id']}/"):
            self.world.store.delete(EVENT, key)

    def _cluster(self, params: Params) -> Doc:
        cluster = self.parts.cluster(params["ClusterName"])
        if not is_continuous(cluster):
            invalid("Cluster events are only available for clusters with NodeProvisioningMode set to Continuous.")
        return cluster

    def list(self, _ctx: CallContext, params: Params) -> dict[str, Any]:
        """Events, newest first unless asked otherwise."""
        cluster = self._cluster(params)
        found = self.world.store.list(EVENT, f"{cluster['cluster_id']}/")
        wanted = {
            "InstanceGroupName": params.get("InstanceGroupName"),
            "InstanceId": params.get("NodeId"),
            "ResourceType": params.get("ResourceType"),
        }
        after, before = params.get("EventTimeAfter", 0.0), params.get("EventTimeBefore", float("inf"))
        found = [
            e
            for e in found
            if all(v is None or e.get(k) == v for k, v in wanted.items()) and after <= e["EventTime"] <= before
        ]
        if params.get("SortOrder", "Descending") == "Descending":
            found = found[::-1]
        question = {k: v for k, v in params.items() if k not in ("NextToken", "MaxResults")}
        items, token = page(found, params.get("MaxResults", 100), params.get("NextToken"), question)
        hidden = ("number", "metadata")
        return {"Events": [{k: v for k, v in e.items() if k not in hidden} for e in items], "NextToken": token}

    def describe(self, _ctx: CallContext, params: Params) -> dict[str, Any]:
        """One event with its metadata."""
        cluster = self._cluster(params)
        held = self.world.store.list(EVENT, f"{cluster['cluster_id']}/")
        found = next((e for e in held if e["EventId"] == params["EventId"]), None)
        if found is None:
            refuse("ResourceNotFound", f"Event with id {params['EventId']} could not be found.")
        shown = {k: v for k, v in found.items() if k not in ("number", "metadata", "EventLevel")}
        if "EventLevel" in found:
            shown["EventLevel"] = found["EventLevel"]
        return {"EventDetails": {**shown, "EventDetails": {"EventMetadata": found["metadata"]}}}
