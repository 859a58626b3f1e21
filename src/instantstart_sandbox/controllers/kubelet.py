"""The kubelets: what happens to a pod on its node, from the mounts to the end. Containers' runs are `runs`' work.

A pod's status is the only memory; timers carry what is due. A node that is lost does nothing to its pods.
"""

from __future__ import annotations

from typing import Any

from instantstart_sandbox.controllers import containers as shape
from instantstart_sandbox.controllers.images import Images
from instantstart_sandbox.controllers.index import finished
from instantstart_sandbox.controllers.plane import Plane, is_true, split
from instantstart_sandbox.controllers.runs import Runs, sidecar
from instantstart_sandbox.controllers.s3_mount import MountProblem
from instantstart_sandbox.controllers.volumes import Volumes
from instantstart_sandbox.workloads import Behaviours

Obj = dict[str, Any]
_SANDBOX_SECONDS = 0.8
_MOUNT_WAIT = 122.0
_NETWORK_WAIT = 5.0
_STOP_SECONDS = 1.0
_CNI = (
    "network is not ready: container runtime network not ready: NetworkReady=false "
    "reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized"
)


class Kubelet:
    """All nodes' agents."""

    def __init__(self, plane: Plane, behaviours: Behaviours) -> None:
        self.plane, self.world, self.kube = plane, plane.world, plane.kube
        self.images = Images(plane)
        self.volumes = Volumes(plane)
        self.runs = Runs(plane, self.images, self.volumes, behaviours, self.advance)
        self.world.work.on("kube.kubelet", self._sync)
        self.world.timers.on("kube.pod.start", self._start)
        self.world.timers.on("kube.pod.stop", self._stopped)

    def settle(self, cluster: str, pod: Obj, node: Obj) -> Obj:
        """The pod with its first status on the node (the scheduler writes both at once)."""
        return {**pod, "status": shape.admitted(pod, node, self.plane.now())}

    def start(self) -> None:
        """Look at every pod that has a node."""
        for cluster in self.kube.clusters():
            for pod in self.kube.list(cluster, "pods"):
                if pod["spec"].get("nodeName"):
                    self._enqueue(cluster, pod)

    def _enqueue(self, cluster: str, pod: Obj) -> None:
        self.world.work.enqueue("kube.kubelet", f"{cluster}/{pod['metadata']['namespace']}/{pod['metadata']['name']}")

    def pod_changed(self, cluster: str, event: str, pod: Obj, old: Obj | None) -> None:
        """A pod got its node, is to go, or has gone."""
        if event == "DELETED":
            if pod["spec"].get("nodeName"):
                self._forget(cluster, pod)
            return
        if not pod["spec"].get("nodeName"):
            return
        fresh = old is None or not old["spec"].get("nodeName")
        going = "deletionTimestamp" in pod["metadata"] and (
            old is None or old["metadata"].get("deletionTimestamp") != pod["metadata"]["deletionTimestamp"]
        )
        if fresh or going:
            self._enqueue(cluster, pod)

    def _forget(self, cluster: str, pod: Obj) -> None:
        meta = pod["metadata"]
        self.kube.logs.remove(cluster, meta["namespace"], meta["name"])
        for kind in ("kube.pod.start", "kube.pod.stop"):
            if self.world.timers.pending(kind, f"{cluster}/{meta['namespace']}/{meta['name']}"):
                self.world.timers.cancel(kind, f"{cluster}/{meta['namespace']}/{meta['name']}")

    def lost(self, cluster: str, node: str) -> bool:
        """Whether the node's kubelet is silent."""
        return self.world.store.get("kube.node_down", f"{cluster}/{node}") is not None

    def _sync(self, key: str) -> None:
        cluster, namespace, name = split(key)
        pod = self.kube.get(cluster, "pods", namespace, name)
        if pod is None or not pod["spec"].get("nodeName"):
            return
        node = self.kube.get(cluster, "nodes", None, pod["spec"]["nodeName"])
        if node is None:
            self.kube.delete(cluster, "pods", namespace, name, grace=0)
            return
        if self.lost(cluster, node["metadata"]["name"]):
            return
        if "deletionTimestamp" in pod["metadata"]:
            self._stop(cluster, key, pod)
        elif not finished(pod):
            if "startTime" not in pod["status"]:
                pod = self.plane.write(cluster, "pods", self.settle(cluster, pod, node), pod)
            elif not is_true(pod["status"], "Ready"):
                self._ready_again(cluster, pod)
            self.advance(cluster, pod)

    def _ready_again(self, cluster: str, pod: Obj) -> None:
        """A node that came back tells again how its containers are."""
        mains = pod["status"].get("containerStatuses") or []
        if mains and all(s["ready"] for s in mains):
            self.plane.status(cluster, "pods", pod, shape.concluded(pod, pod["status"], self.plane.now()))

    # starting

    def advance(self, cluster: str, pod: Obj) -> None:
        """Begin what is next: the first init container that is not done, else all containers that have not begun."""
        names = self._next(pod)
        key = f"{cluster}/{pod['metadata']['namespace']}/{pod['metadata']['name']}"
        if not names or self.world.timers.pending("kube.pod.start", key) or finished(pod):
            return
        node = pod["spec"]["nodeName"]
        pull = 0.0
        for container in self._specs(pod, names):
            if not self.images.has(cluster, node, container):
                pull = max(pull, self.images.seconds(cluster, node, container))
        first = "podIP" not in pod["status"]
        plain = not first or (self.volumes.plain(pod) and pod["spec"].get("hostNetwork"))
        wait = _SANDBOX_SECONDS if first else 0.0
        if plain or (first and self.volumes.plain(pod) and self._network(cluster, node)):
            self._pulling(cluster, pod, names)
            self.world.timers.after(wait + pull, "kube.pod.start", key, uid=pod["metadata"]["uid"], pulled=True)
        else:
            self.world.timers.after(wait, "kube.pod.start", key, uid=pod["metadata"]["uid"], pulled=False, tries=0)

    @staticmethod
    def _specs(pod: Obj, names: list[str]) -> list[Obj]:
        spec = pod["spec"]
        return [c for part in ("initContainers", "containers") for c in spec.get(part) or () if c["name"] in names]

    @staticmethod
    def _next(pod: Obj) -> list[str]:
        spec, status = pod["spec"], pod["status"]
        for container in spec.get("initContainers") or ():
            found = shape.find(status, container["name"])
            ended = found["state"].get("terminated")
            if (ended and ended["exitCode"] == 0) or (sidecar(container) and "running" in found["state"]):
                continue
            return [container["name"]] if _fresh(found) else []
        return [s["name"] for s in status.get("containerStatuses") or () if _fresh(s)]

    def _pulling(self, cluster: str, pod: Obj, names: list[str]) -> None:
        node = pod["spec"]["nodeName"]
        for container in self._specs(pod, names):
            if not self.images.has(cluster, node, container):
                path = shape_path(pod, container["name"])
                text = f'Pulling image "{container["image"]}"'
                self.plane.event(cluster, pod, "Pulling", text, host=node, path=path)

    def _network(self, cluster: str, node: str) -> bool:
        found = self.kube.get(cluster, "nodes", None, node)
        return found is not None and is_true(found["status"], "Ready")

    def _start(self, key: str, payload: Obj) -> None:
        cluster, namespace, name = split(key)
        pod = self.kube.get(cluster, "pods", namespace, name)
        if pod is None or pod["metadata"]["uid"] != payload["uid"] or "deletionTimestamp" in pod["metadata"]:
            return
        node = pod["spec"]["nodeName"]
        if self.lost(cluster, node) or finished(pod):
            return
        first = "podIP" not in pod["status"]
        if first and not self._sandbox(cluster, key, pod, payload):
            return
        names = self._next(pod)
        if not payload["pulled"]:
            self._pulling(cluster, pod, names)
            wanted = [c for c in self._specs(pod, names) if not self.images.has(cluster, node, c)]
            pull = max((self.images.seconds(cluster, node, c) for c in wanted), default=0.0)
            if pull:
                self.world.timers.after(pull, "kube.pod.start", key, uid=payload["uid"], pulled=True)
                return
        status = self._addressed(cluster, pod) if first else pod["status"]
        self.runs.begin(cluster, pod, status, names)

    def _sandbox(self, cluster: str, key: str, pod: Obj, payload: Obj) -> bool:
        """Volumes and network; on failure an event, and another try later."""
        tries = payload.get("tries", 0)
        node = pod["spec"]["nodeName"]
        again = {"uid": payload["uid"], "pulled": False, "tries": tries + 1}
        if not pod["spec"].get("hostNetwork") and not self._network(cluster, node):
            self.plane.event(cluster, pod, "NetworkNotReady", _CNI, warning=True, host=node)
            self.world.timers.after(_NETWORK_WAIT, "kube.pod.start", key, **again)
            return False
        try:
            self.volumes.mount(cluster, pod)
        except MountProblem as problem:
            self.plane.event(cluster, pod, "FailedMount", str(problem), warning=True, host=node)
            wait = min(0.5 * 2.0**tries, _MOUNT_WAIT)
            self.world.timers.after(wait, "kube.pod.start", key, **again)
            return False
        return True

    def _addressed(self, cluster: str, pod: Obj) -> Obj:
        status = pod["status"]
        address = status["hostIP"] if pod["spec"].get("hostNetwork") else self._address(cluster, status["hostIP"])
        return {**status, "podIP": address, "podIPs": [{"ip": address}]}

    def _address(self, cluster: str, host: str) -> str:
        doc = self.world.store.get("kube.addresses", cluster) or {"next": 0}
        number = doc["next"]
        self.world.store.put("kube.addresses", cluster, {"next": number + 1})
        head = ".".join(host.split(".")[:2]) if host else "10.1"
        return f"{head}.{128 + number // 254 % 128}.{number % 254 + 1}"

    # stopping

    def _stop(self, cluster: str, key: str, pod: Obj) -> None:
        meta = pod["metadata"]
        running = [s for _, part in shape.PARTS for s in pod["status"].get(part) or () if "running" in s["state"]]
        if not running:
            self.kube.delete(cluster, "pods", meta["namespace"], meta["name"], grace=0)
            return
        if self.world.timers.pending("kube.pod.stop", key):
            self._hasten(cluster, key, pod)
            return
        for status in running:
            path = shape_path(pod, status["name"])
            text = f"Stopping container {status['name']}"
            self.plane.event(cluster, pod, "Killing", text, host=pod["spec"]["nodeName"], path=path)
        self._hasten(cluster, key, pod)

    def _hasten(self, cluster: str, key: str, pod: Obj) -> None:
        grace = float(pod["metadata"].get("deletionGracePeriodSeconds") or 0)
        stubborn = any(self.runs.stubborn(cluster, pod, c) for c in pod["spec"]["containers"])
        wait = grace if stubborn else min(_STOP_SECONDS, grace)
        self.world.timers.after(wait, "kube.pod.stop", key, uid=pod["metadata"]["uid"])

    def _stopped(self, key: str, payload: Obj) -> None:
        cluster, namespace, name = split(key)
        pod = self.kube.get(cluster, "pods", namespace, name)
        if pod is None or pod["metadata"]["uid"] != payload["uid"]:
            return
        if self.lost(cluster, pod["spec"]["nodeName"]):
            return
        if not finished(pod) and pod["metadata"].get("finalizers"):
            self.plane.status(cluster, "pods", pod, self.runs.killed(pod))
        self.kube.delete(cluster, "pods", namespace, name, grace=0)


def _fresh(status: Obj) -> bool:
    """Whether a container has not begun its run: it waits, and not for a back-off."""
    wait = status["state"].get("waiting")
    return wait is not None and wait["reason"] in ("ContainerCreating", "PodInitializing")


def shape_path(pod: Obj, name: str) -> str:
    """Where a container stands in its pod, as events name it."""
    part = "spec.containers" if any(c["name"] == name for c in pod["spec"]["containers"]) else "spec.initContainers"
    return f"{part}{{{name}}}"
