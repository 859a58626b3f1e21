"""StatefulSets: numbered pods in order, each with its claims, replaced from the highest number down."""

from __future__ import annotations

from typing import Any

from instantstart_sandbox.controllers.deployments import template_hash
from instantstart_sandbox.controllers.index import finished
from instantstart_sandbox.controllers.plane import Plane, controller_of, pod_ready, split
from instantstart_sandbox.controllers.replicas import create_pod, delete_pod
from instantstart_sandbox.kube.canonical import empty_copy

Obj = dict[str, Any]
_HASH = "controller-revision-hash"


class StatefulSets:
    """Reconciles StatefulSets."""

    component = "statefulset-controller"
    resource = "statefulsets.apps"

    def __init__(self, plane: Plane) -> None:
        self.plane, self.world, self.kube = plane, plane.world, plane.kube
        self.world.work.on("kube.statefulset", self._sync)

    def pod_changed(self, cluster: str, pod: Obj) -> None:
        """A pod of a StatefulSet changed."""
        owner = controller_of(pod)
        if owner is not None and owner["kind"] == "StatefulSet":
            self.world.work.enqueue("kube.statefulset", f"{cluster}/{pod['metadata']['namespace']}/{owner['name']}")

    def _sync(self, key: str) -> None:
        cluster, namespace, name = split(key)
        owner = self.kube.get(cluster, self.resource, namespace, name)
        if owner is None or "deletionTimestamp" in owner["metadata"]:
            return
        pods = {_ordinal(p): p for p in self.plane.index.owned(cluster, owner["metadata"]["uid"], "pods")}
        mark = f"{name}-{template_hash(owner['spec']['template'])}"
        wanted = owner["spec"].get("replicas", 1)
        parallel = owner["spec"].get("podManagementPolicy") == "Parallel"
        self._grow(cluster, owner, pods, wanted, mark, parallel)
        if parallel or all(pod_ready(pods[i]) for i in range(wanted) if i in pods):
            self._shrink(cluster, owner, pods, wanted, parallel)
            self._roll(cluster, owner, pods, wanted, mark)
        self._status(cluster, owner, wanted, mark)

    def _grow(self, cluster: str, owner: Obj, pods: dict[int, Obj], wanted: int, mark: str, parallel: bool) -> None:
        for ordinal in range(wanted):
            pod = pods.get(ordinal)
            if pod is not None and finished(pod) and "deletionTimestamp" not in pod["metadata"]:
                delete_pod(self.plane, cluster, owner, pod, self.component)
                return
            if pod is None:
                self._create(cluster, owner, ordinal, mark)
                if not parallel:
                    return
            elif not pod_ready(pod) and not parallel:
                return

    def _create(self, cluster: str, owner: Obj, ordinal: int, mark: str) -> None:
        meta = owner["metadata"]
        name = f"{meta['name']}-{ordinal}"
        template = empty_copy(owner["spec"]["template"])
        spec = template["spec"]
        for claim in owner["spec"].get("volumeClaimTemplates") or ():
            label = claim["metadata"]["name"]
            body = {
                "metadata": {**claim["metadata"], "name": f"{label}-{name}", "namespace": meta["namespace"]},
                "spec": empty_copy(claim["spec"]),
            }
            self.plane.create(cluster, "persistentvolumeclaims", body)
            others = [v for v in spec.get("volumes") or () if v["name"] != label]
            spec["volumes"] = [*others, {"name": label, "persistentVolumeClaim": {"claimName": f"{label}-{name}"}}]
        spec["hostname"] = name
        if owner["spec"].get("serviceName"):
            spec["subdomain"] = owner["spec"]["serviceName"]
        labels = {
            _HASH: mark,
            "statefulset.kubernetes.io/pod-name": name,
            "apps.kubernetes.io/pod-index": str(ordinal),
        }
        create_pod(self.plane, cluster, owner, template, self.component, name=name, labels=labels)

    def _shrink(self, cluster: str, owner: Obj, pods: dict[int, Obj], wanted: int, parallel: bool) -> None:
        for ordinal in sorted((o for o in pods if o >= wanted), reverse=True):
            if "deletionTimestamp" not in pods[ordinal]["metadata"]:
                delete_pod(self.plane, cluster, owner, pods[ordinal], self.component)
            if not parallel:
                return

    def _roll(self, cluster: str, owner: Obj, pods: dict[int, Obj], wanted: int, mark: str) -> None:
        strategy = owner["spec"].get("updateStrategy") or {}
        if strategy.get("type") == "OnDelete" or len([o for o in pods if o < wanted]) < wanted:
            return
        lowest = (strategy.get("rollingUpdate") or {}).get("partition", 0)
        for ordinal in range(wanted - 1, lowest - 1, -1):
            pod = pods[ordinal]
            if not pod_ready(pod):
                if pod["metadata"]["labels"].get(_HASH) != mark and "deletionTimestamp" not in pod["metadata"]:
                    delete_pod(self.plane, cluster, owner, pod, self.component)
                return
            if pod["metadata"]["labels"].get(_HASH) != mark:
                delete_pod(self.plane, cluster, owner, pod, self.component)
                return

    def _status(self, cluster: str, owner: Obj, wanted: int, mark: str) -> None:
        pods = [p for p in self.plane.index.owned(cluster, owner["metadata"]["uid"], "pods") if not finished(p)]
        updated = [p for p in pods if p["metadata"]["labels"].get(_HASH) == mark]
        ready = [p for p in pods if pod_ready(p)]
        old = owner.get("status") or {}
        done = len(updated) == len(pods) == wanted == len(ready)
        current = mark if done or not old.get("currentRevision") else old["currentRevision"]
        status: Obj = {
            "observedGeneration": owner["metadata"].get("generation", 1),
            "replicas": len(pods),
            "readyReplicas": len(ready),
            "availableReplicas": len(ready),
            "currentReplicas": len(pods) if current == mark else len(pods) - len(updated),
            "updatedReplicas": len(updated),
            "currentRevision": current,
            "updateRevision": mark,
            "collisionCount": 0,
        }
        kept = ("replicas", "collisionCount", "availableReplicas")
        self.plane.status(cluster, self.resource, owner, {k: v for k, v in status.items() if v or k in kept})


def _ordinal(pod: Obj) -> int:
    tail = pod["metadata"]["name"].rpartition("-")[2]
    return int(tail) if tail.isdigit() else -1
