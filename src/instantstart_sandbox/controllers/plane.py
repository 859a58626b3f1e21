"""What all controllers share: the world, the cluster's objects, fast writes of status, events, owner references.

Controllers write well-formed objects, so their writes skip the checks that outside clients get.
"""

from __future__ import annotations

import hashlib
from typing import Any

from instantstart_sandbox.controllers.api import AwsFacts
from instantstart_sandbox.controllers.index import Index
from instantstart_sandbox.kube.admission import stamp
from instantstart_sandbox.kube.ages import parse
from instantstart_sandbox.kube.objects import ApiError, KubeApi
from instantstart_sandbox.world import World

Obj = dict[str, Any]
_EVENT_SECONDS = 3600.0


class Plane:
    """The controllers' side of every cluster."""

    def __init__(self, world: World, kube: KubeApi, aws: AwsFacts) -> None:
        self.world, self.kube, self.aws = world, kube, aws
        self.index = Index(kube)
        world.timers.on("kube.events.expire", self._expire)

    def now(self) -> str:
        """World time as Kubernetes writes it."""
        return stamp(self.world.clock.time())

    def age(self, text: str | None) -> float:
        """Seconds of world time since a Kubernetes time; 0 when there is none."""
        return self.world.clock.time() - parse(text) if text else 0.0

    # writing

    def write(self, cluster: str, resource: str, new: Obj, old: Obj) -> Obj:
        """Store a changed copy without further checks; nothing happens when nothing differs."""
        state = self.kube.engine.store.clusters.get(cluster)
        if state is None or new == old:
            return old
        new["metadata"] = dict(new["metadata"])
        return self.kube.engine.store.write(state, resource, new, old)

    def status(self, cluster: str, resource: str, obj: Obj, status: Obj) -> Obj:
        """Store a new status, if it differs."""
        if obj.get("status") == status:
            return obj
        return self.write(cluster, resource, {**obj, "status": status}, obj)

    def create(self, cluster: str, resource: str, obj: Obj) -> Obj | None:
        """Create, or None when it exists or its namespace is going."""
        try:
            return self.kube.create(cluster, resource, obj)
        except ApiError as error:
            if error.code in (403, 404, 409):
                return None
            raise

    # events

    def event(
        self,
        cluster: str,
        about: Obj,
        reason: str,
        message: str,
        *,
        warning: bool = False,
        component: str = "kubelet",
        host: str = "",
        path: str = "",
    ) -> None:
        """Record an event about an object; the same one again only counts up."""
        meta = about["metadata"]
        state = self.kube.engine.store.clusters.get(cluster)
        if state is None:
            return
        mark = hashlib.sha256(f"{meta['uid']}|{reason}|{message}|{component}|{path}".encode()).hexdigest()[:16]
        namespace, name, now = meta.get("namespace") or "default", f"{meta['name']}.{mark}", self.now()
        entry = state.table("events").entries.get((namespace, name))
        if entry is not None:
            old = entry.obj
            self.write(cluster, "events", {**old, "count": old.get("count", 1) + 1, "lastTimestamp": now}, old)
            return
        if ("", namespace) not in state.table("namespaces").entries:
            return
        body = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {
                "name": name,
                "namespace": namespace,
                "uid": self.world.ids.uuid(),
                "creationTimestamp": now,
            },
            "involvedObject": self.reference(about, path),
            "reason": reason,
            "message": message,
            "source": {"component": component, **({"host": host} if host else {})},
            "firstTimestamp": now,
            "lastTimestamp": now,
            "count": 1,
            "type": "Warning" if warning else "Normal",
            "eventTime": None,
            "reportingComponent": component,
            "reportingInstance": host,
        }
        self.kube.engine.store.write(state, "events", body, None)
        if not self.world.timers.pending("kube.events.expire", cluster):
            self.world.timers.after(_EVENT_SECONDS, "kube.events.expire", cluster)

    @staticmethod
    def reference(about: Obj, path: str = "") -> Obj:
        """An ObjectReference."""
        meta = about["metadata"]
        found = {
            "kind": about["kind"],
            "namespace": meta.get("namespace"),
            "name": meta["name"],
            "uid": meta["uid"],
            "apiVersion": about["apiVersion"],
            "resourceVersion": meta["resourceVersion"],
            "fieldPath": path,
        }
        if about["kind"] == "Node":
            found["uid"] = meta["name"]
        return {k: v for k, v in found.items() if v}

    def _expire(self, cluster: str, _payload: Obj) -> None:
        state = self.kube.engine.store.clusters.get(cluster)
        if state is None:
            return
        table = state.table("events")
        for entry in list(table.entries.values()):
            if self.age(entry.obj.get("lastTimestamp") or entry.obj["metadata"]["creationTimestamp"]) >= _EVENT_SECONDS:
                self.kube.engine.store.remove(state, "events", entry.obj)
        if table.entries:
            self.world.timers.after(_EVENT_SECONDS / 2, "kube.events.expire", cluster)


def owner_reference(owner: Obj) -> Obj:
    """The reference by which a controller owns what it makes."""
    meta = owner["metadata"]
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": meta["name"],
        "uid": meta["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def controller_of(obj: Obj) -> Obj | None:
    """The reference to the controlling owner."""
    for owner in obj["metadata"].get("ownerReferences") or ():
        if owner.get("controller"):
            found: Obj = owner
            return found
    return None


def condition(status: Obj, kind: str) -> Obj | None:
    """The condition of a type."""
    for item in status.get("conditions") or ():
        if item["type"] == kind:
            found: Obj = item
            return found
    return None


def is_true(status: Obj | None, kind: str) -> bool:
    """Whether the condition of a type is True."""
    found = condition(status or {}, kind)
    return found is not None and found["status"] == "True"


def with_condition(status: Obj, new: Obj, now: str, time: str = "lastTransitionTime") -> list[Obj]:
    """The conditions with one replaced; its transition time moves only when its status does."""
    kept = list(status.get("conditions") or [])
    for i, item in enumerate(kept):
        if item["type"] == new["type"]:
            kept[i] = {**new, time: item.get(time, now) if item["status"] == new["status"] else now}
            return kept
    return [*kept, {**new, time: now}]


def pod_ready(pod: Obj) -> bool:
    """Whether a pod is Ready and not going."""
    return is_true(pod.get("status"), "Ready") and "deletionTimestamp" not in pod["metadata"]


def split(key: str) -> tuple[str, str, str]:
    """cluster, namespace (or '') and name of a work key `cluster/namespace/name`."""
    cluster, namespace, name = key.split("/", 2)
    return cluster, "" if namespace == "-" else namespace, name


def join(cluster: str, obj: Obj) -> str:
    """The work key of an object."""
    meta = obj["metadata"]
    return f"{cluster}/{meta.get('namespace') or '-'}/{meta['name']}"
