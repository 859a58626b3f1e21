"""Pods made from a template, and ReplicaSets, which keep a number of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from instantstart_sandbox.controllers.index import finished
from instantstart_sandbox.controllers.plane import Plane, controller_of, join, owner_reference, pod_ready, split
from instantstart_sandbox.kube.canonical import empty_copy
from instantstart_sandbox.kube.objects import ApiError

Obj = dict[str, Any]
_BURST = 500
_TEMPLATES = 500
_RETRY_SECONDS = 10.0
_STATUS_SECONDS = 1.0
LARGE = 20


_ready_made: dict[bytes, bytes] = {}


def _pod_of(plane: Plane, cluster: str, template: Obj) -> Obj:
    """A pod in normal form from a template; each template is brought into normal form once."""
    key = orjson.dumps(template)
    made = _ready_made.get(key)
    if made is None:
        engine = plane.kube.engine
        kind = engine.kind_of(engine.cluster(cluster), "pods")
        given = {"metadata": template.get("metadata") or {}, "spec": empty_copy(template["spec"])}
        if len(_ready_made) >= _TEMPLATES:
            _ready_made.clear()
        made = _ready_made[key] = orjson.dumps(engine.normal(kind, given))
    found: Obj = orjson.loads(made)
    return found


def create_pod(
    plane: Plane,
    cluster: str,
    owner: Obj,
    template: Obj,
    component: str,
    *,
    name: str = "",
    affinity: Obj | None = None,
    labels: Mapping[str, str] | None = None,
) -> Obj | None:
    """Create a pod of an owner from a template, with an event; None, and an event, when the API server refuses."""
    meta = owner["metadata"]
    pod = _pod_of(plane, cluster, template)
    own = pod["metadata"]
    own["namespace"], own["ownerReferences"] = meta["namespace"], [owner_reference(owner)]
    own["labels"] = {**(own.get("labels") or {}), **(labels or {})}
    if affinity is not None:
        pod["spec"]["affinity"] = affinity
    if name:
        own["name"] = name
    else:
        own["generateName"] = f"{meta['name']}-"
    engine = plane.kube.engine
    try:
        with plane.world.store.transaction():
            state = engine.cluster(cluster)
            made = engine.create(state, engine.kind_of(state, "pods"), pod, trusted=True)
    except ApiError as error:
        if error.code == 409:
            return None
        text = f"Error creating: {error.message}"
        plane.event(cluster, owner, "FailedCreate", text, warning=True, component=component)
        return None
    told = f"Created pod: {made['metadata']['name']}"
    plane.event(cluster, owner, "SuccessfulCreate", told, component=component)
    return made


def delete_pod(plane: Plane, cluster: str, owner: Obj, pod: Obj, component: str) -> None:
    """Delete a pod of an owner, with an event."""
    meta = pod["metadata"]
    plane.kube.delete(cluster, "pods", meta["namespace"], meta["name"])
    plane.event(cluster, owner, "SuccessfulDelete", f"Deleted pod: {meta['name']}", component=component)


def live_pods(plane: Plane, cluster: str, owner: Obj) -> list[Obj]:
    """The owner's pods that are neither finished nor going."""
    pods = plane.index.owned(cluster, owner["metadata"]["uid"], "pods")
    return [p for p in pods if not finished(p) and "deletionTimestamp" not in p["metadata"]]


def rank(pod: Obj) -> tuple[bool, bool, bool, str]:
    """Which pods go first when some must: without a node, not running, not ready, the youngest."""
    status = pod.get("status") or {}
    when = pod["metadata"]["creationTimestamp"]
    younger = "".join(chr(126 - ord(c) % 94) for c in when)
    return (bool(pod["spec"].get("nodeName")), status.get("phase") == "Running", pod_ready(pod), younger)


class ReplicaSets:
    """Keeps spec.replicas pods; status of large sets is written at most once a second."""

    component = "replicaset-controller"
    resource = "replicasets.apps"

    def __init__(self, plane: Plane) -> None:
        self.plane, self.world, self.kube = plane, plane.world, plane.kube
        self.world.work.on("kube.replicaset", self._sync)
        self.world.timers.on("kube.replicaset.later", self._later)

    def _later(self, key: str, _payload: Obj) -> None:
        self.world.work.enqueue("kube.replicaset", key)

    def pod_changed(self, cluster: str, pod: Obj) -> None:
        """A pod of a ReplicaSet changed; of large sets the news wait a little, to come together."""
        owner = controller_of(pod)
        if owner is None or owner["kind"] != "ReplicaSet":
            return
        key = f"{cluster}/{pod['metadata']['namespace']}/{owner['name']}"
        if len(self.plane.index.of(cluster).children.get(owner["uid"], ())) > LARGE:
            if not self.world.timers.pending("kube.replicaset.later", key):
                self.world.timers.after(_STATUS_SECONDS, "kube.replicaset.later", key)
        else:
            self.world.work.enqueue("kube.replicaset", key)

    def _sync(self, key: str) -> None:
        cluster, namespace, name = split(key)
        owner = self.kube.get(cluster, self.resource, namespace, name)
        if owner is None or "deletionTimestamp" in owner["metadata"]:
            return
        pods = live_pods(self.plane, cluster, owner)
        wanted = owner["spec"].get("replicas", 1)
        refused = False
        if len(pods) < wanted:
            for _ in range(min(wanted - len(pods), _BURST)):
                made = create_pod(self.plane, cluster, owner, owner["spec"]["template"], self.component)
                if made is None:
                    refused = True
                    break
                pods.append(made)
            if refused or len(pods) < wanted:
                wait = _RETRY_SECONDS if refused else _STATUS_SECONDS
                self.world.timers.after(wait, "kube.replicaset.later", key)
        elif len(pods) > wanted:
            victims = sorted(pods, key=rank)[: len(pods) - wanted]
            for pod in victims:
                delete_pod(self.plane, cluster, owner, pod, self.component)
            gone = {p["metadata"]["name"] for p in victims}
            pods = [p for p in pods if p["metadata"]["name"] not in gone]
        self._status(cluster, owner, pods, refused)

    def _status(self, cluster: str, owner: Obj, pods: list[Obj], refused: bool) -> None:
        ready = [p for p in pods if pod_ready(p)]
        waits = owner["spec"].get("minReadySeconds") or 0
        available = [p for p in ready if not waits or self._ready_for(p) >= waits]
        if len(available) < len(ready):
            self.world.timers.after(float(waits), "kube.replicaset.later", join(cluster, owner))
        status: Obj = {
            "replicas": len(pods),
            "fullyLabeledReplicas": len(pods),
            "readyReplicas": len(ready),
            "availableReplicas": len(available),
            "observedGeneration": owner["metadata"].get("generation", 1),
        }
        status = {k: v for k, v in status.items() if v or k == "replicas"}
        if refused:
            why = {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": "pods are refused"}
            status["conditions"] = [{**why, "lastTransitionTime": self.plane.now()}]
            old = (owner.get("status") or {}).get("conditions")
            status["conditions"] = old or status["conditions"]
        self.plane.status(cluster, self.resource, owner, status)

    def _ready_for(self, pod: Obj) -> float:
        for item in pod["status"].get("conditions") or ():
            if item["type"] == "Ready":
                return self.plane.age(item.get("lastTransitionTime"))
        return 0.0
