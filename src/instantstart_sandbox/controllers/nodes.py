"""Nodes: each running HyperPod instance joins its EKS cluster, becomes Ready with its network, and leaves.

HyperPod's side writes `sagemaker.node` documents; nothing is written back. An idle node costs nothing: its lease is
written when it joins and not renewed.
"""

from __future__ import annotations

from typing import Any

from instantstart_sandbox.controllers import node_object as shape
from instantstart_sandbox.controllers.plane import Plane, is_true
from instantstart_sandbox.controllers.sizes import size_of

Obj = dict[str, Any]
_JOINED = ("Running", "SystemUpdating", "DeepHealthCheckInProgress")
_NETWORK = ("aws-node", "kube-proxy")
_LEASES = "leases.coordination.k8s.io"
RECOVERY_SECONDS = 1800.0


class Nodes:
    """Makes, keeps and removes Node objects."""

    def __init__(self, plane: Plane) -> None:
        self.plane, self.world, self.kube = plane, plane.world, plane.kube
        self.world.work.on("kube.node.doc", self._doc)
        self.world.work.on("kube.node.gone", self._gone)
        self.world.work.on("kube.node.state", self._state)
        self.world.work.on("kube.node.faults", self._faults)
        self.world.timers.on("kube.node.recover", self._recover)
        self.world.store.subscribe("sagemaker.node", self._doc_changed)
        self.world.store.subscribe("kube.cluster", self._cluster_changed)
        self.world.store.subscribe("fault", self._fault_changed)

    # what changed

    def _doc_changed(self, key: str, old: Obj | None, new: Obj | None) -> None:
        self.world.work.enqueue("kube.node.doc", key)
        if old is not None and (new is None or new["instance_id"] != old["instance_id"]):
            self.world.work.enqueue("kube.node.gone", f"{old['eks_cluster']}/{old['instance_id']}")

    def _cluster_changed(self, name: str, old: Obj | None, new: Obj | None) -> None:
        if old is None and new is not None:
            for key, doc in self.world.store.items("sagemaker.node"):
                if doc.get("eks_cluster") == name:
                    self.world.work.enqueue("kube.node.doc", key)
        elif new is None:
            for key, _ in self.world.store.items("kube.node_down", f"{name}/"):
                self.world.store.delete("kube.node_down", key)

    def _fault_changed(self, _key: str, old: Obj | None, new: Obj | None) -> None:
        if "node_not_ready" in ((old or {}).get("kind"), (new or {}).get("kind")):
            self.world.work.enqueue("kube.node.faults", "all")

    def pod_changed(self, cluster: str, event: str, pod: Obj, old: Obj | None) -> None:
        """A pod that makes nodes Ready, or announces devices, started or stopped."""
        node = pod["spec"].get("nodeName")
        if node and _system(pod) and _running(pod, event) != _running(old, ""):
            self.world.work.enqueue("kube.node.state", f"{cluster}/{node}")

    def node_changed(self, cluster: str, event: str, node: Obj, old: Obj | None) -> None:
        """Somebody cordoned a node, or it is new."""
        if event != "DELETED" and (old is None or old["spec"] != node["spec"]):
            self.world.work.enqueue("kube.node.state", f"{cluster}/{node['metadata']['name']}")

    def start(self) -> None:
        """Look at everything once."""
        for key, _ in self.world.store.items("sagemaker.node"):
            self.world.work.enqueue("kube.node.doc", key)
        for cluster in self.kube.clusters():
            for node in self.kube.list(cluster, "nodes"):
                self.world.work.enqueue("kube.node.state", f"{cluster}/{node['metadata']['name']}")

    # joining and leaving

    def _doc(self, key: str) -> None:
        doc = self.world.store.get("sagemaker.node", key)
        if doc is None or not self.kube.has_cluster(doc.get("eks_cluster") or ""):
            return
        cluster, name = doc["eks_cluster"], shape.node_name(doc["instance_id"])
        node = self.kube.get(cluster, "nodes", None, name)
        if node is None:
            if doc["status"] in _JOINED:
                self._join(cluster, name, doc)
        elif doc["status"] in ("ShuttingDown", "NotFound"):
            self.world.work.enqueue("kube.node.gone", f"{cluster}/{doc['instance_id']}")
        else:
            self._follow(cluster, node, doc)

    def _join(self, cluster: str, name: str, doc: Obj) -> None:
        size, now = size_of(doc["instance_type"]), self.plane.now()
        owner = self.world.store.get("sagemaker.cluster", doc["cluster"]) or {}
        whole, left = shape.capacity(size, {})
        state = self.kube.engine.cluster(cluster)
        node = self.kube.create(
            cluster,
            "nodes",
            {
                "metadata": {
                    "name": name,
                    "labels": shape.labels(doc, self.world.account.region),
                    "annotations": {
                        "node.alpha.kubernetes.io/ttl": "0",
                        "volumes.kubernetes.io/controller-managed-attach-detach": "true",
                    },
                },
                "spec": {
                    "providerID": shape.provider_id(doc, owner.get("ClusterArn", "")),
                    "taints": [*shape.group_taints(doc), *shape.lifecycle_taints(False, False, False, now)],
                },
                "status": {
                    "addresses": [
                        {"type": "InternalIP", "address": doc["private_ip"]},
                        {"type": "Hostname", "address": name},
                    ],
                    "allocatable": left,
                    "capacity": whole,
                    "conditions": shape.conditions([], False, False, now),
                    "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
                    "nodeInfo": shape.node_info(size, state.doc["version"], doc["instance_id"]),
                },
            },
        )
        lease = {"holderIdentity": name, "leaseDurationSeconds": 40, "renewTime": now[:-1] + ".000000Z"}
        owned = {k: v for k, v in _owner(node).items() if k not in ("controller", "blockOwnerDeletion")}
        meta = {"name": name, "namespace": "kube-node-lease", "ownerReferences": [owned]}
        self.plane.create(cluster, _LEASES, {"metadata": meta, "spec": lease})
        told = f"Node {name} event: Registered Node {name} in Controller"
        self.plane.event(cluster, node, "Starting", "Starting kubelet.", host=name)
        self.plane.event(cluster, node, "RegisteredNode", told, component="node-controller")

    def _follow(self, cluster: str, node: Obj, doc: Obj) -> None:
        """Labels and taints that HyperPod writes follow the document; those of others stay."""
        wanted = shape.labels(doc, self.world.account.region)
        own = dict(node["metadata"].get("labels") or {})
        before = self.world.store.get("kube.node_labels", f"{cluster}/{node['metadata']['name']}") or {}
        for name in before.get("labels", []):
            if name not in wanted:
                own.pop(name, None)
        held = own.get(shape.HEALTH)
        checked = own.get(shape.DEEP_CHECK)
        own |= wanted
        if checked == "InProgress" and shape.DEEP_CHECK not in wanted:
            own[shape.DEEP_CHECK] = "Passed"
        if held and held.startswith("UnschedulablePending"):
            own[shape.HEALTH] = held
        group = shape.group_taints(doc)
        former = {(t["key"], t["effect"]) for t in before.get("taints", [])} | {(shape.HEALTH, "NoSchedule")}
        kept = [t for t in node["spec"].get("taints") or [] if (t["key"], t["effect"]) not in former]
        names = {(t["key"], t["effect"]) for t in group}
        taints = [*group, *(t for t in kept if (t["key"], t["effect"]) not in names)]
        record = {"labels": sorted((doc.get("kubernetes_config") or {}).get("labels") or {}), "taints": group}
        if record != before and (record["labels"] or group or before):
            self.world.store.put("kube.node_labels", f"{cluster}/{node['metadata']['name']}", record)
        spec = {**node["spec"], "taints": taints}
        if not taints:
            del spec["taints"]
        self.plane.write(
            cluster, "nodes", {**node, "metadata": {**node["metadata"], "labels": own}, "spec": spec}, node
        )

    def _gone(self, key: str) -> None:
        """The instance is gone: so are the node, its lease and, by the pods' own collector, its pods."""
        cluster, _, instance = key.partition("/")
        name = shape.node_name(instance)
        node = self.kube.get(cluster, "nodes", None, name)
        if node is not None:
            self.plane.event(cluster, node, "RemovingNode", f"Node {name} event: Removing Node {name} from Controller")
            self.kube.delete(cluster, "nodes", None, name)
        for kind in ("kube.node_down", "kube.node_labels"):
            if self.world.store.get(kind, f"{cluster}/{name}") is not None:
                self.world.store.delete(kind, f"{cluster}/{name}")
        self.world.timers.cancel("kube.node.recover", f"{cluster}/{name}")

    # state

    def _state(self, key: str) -> None:
        cluster, _, name = key.partition("/")
        node = self.kube.get(cluster, "nodes", None, name)
        if node is None:
            return
        lost = self.world.store.get("kube.node_down", key) is not None
        running = [p for p in self.kube.list(cluster, "pods", fields={"spec.nodeName": name}) if _running(p, "")]
        apps = {(p["metadata"].get("labels") or {}).get("k8s-app") for p in running}
        ready = not lost and all(name in apps for name in _NETWORK)
        now, old = self.plane.now(), node["status"]
        devices = dict(_known_devices(old))
        if not lost:
            size = size_of((node["metadata"].get("labels") or {}).get("node.kubernetes.io/instance-type", ""))
            devices |= _devices(running, size)
        status = {**old, "conditions": shape.conditions(old.get("conditions") or [], ready, lost, now)}
        if devices:
            status["capacity"] = {**old["capacity"], **{k: str(v) for k, v in devices.items() if v}}
            status["allocatable"] = {**old["allocatable"], **{k: str(v) for k, v in devices.items()}}
        spec = self._spec(node, ready, lost, now)
        self.plane.write(cluster, "nodes", {**node, "spec": spec, "status": status}, node)
        if ready and not is_true(old, "Ready"):
            self.plane.event(cluster, node, "NodeReady", f"Node {name} status is now: NodeReady", host=name)
        elif not ready and is_true(old, "Ready"):
            self.plane.event(
                cluster, node, "NodeNotReady", f"Node {name} status is now: NodeNotReady", component="node-controller"
            )
            self._pods_not_ready(cluster, name)

    @staticmethod
    def _spec(node: Obj, ready: bool, lost: bool, now: str) -> Obj:
        cordoned = bool(node["spec"].get("unschedulable"))
        marks = (*shape.LIFECYCLE_TAINTS, "node.kubernetes.io/unschedulable")
        old = node["spec"].get("taints") or []
        former = {(t["key"], t["effect"]): t for t in old}
        wanted = shape.lifecycle_taints(ready, lost, cordoned, now)
        taints = [t for t in old if t["key"] not in marks]
        taints += [former.get((t["key"], t["effect"]), t) for t in wanted]
        spec = {k: v for k, v in node["spec"].items() if k != "taints"}
        return {**spec, "taints": taints} if taints else spec

    def _pods_not_ready(self, cluster: str, name: str) -> None:
        now = self.plane.now()
        for pod in self.kube.list(cluster, "pods", fields={"spec.nodeName": name}):
            if is_true(pod["status"], "Ready"):
                changed = [
                    {**c, "status": "False", "lastTransitionTime": now} if c["type"] == "Ready" else c
                    for c in pod["status"]["conditions"]
                ]
                self.plane.status(cluster, "pods", pod, {**pod["status"], "conditions": changed})
                text = "Node is not ready"
                self.plane.event(cluster, pod, "NodeNotReady", text, warning=True, component="node-controller")

    # faults

    def _faults(self, _key: str) -> None:
        """Take down what faults name; bring back what was down by a fault that is gone."""
        alive = {fault["id"]: fault for fault in self.world.faults.list() if fault["kind"] == "node_not_ready"}
        for key, down in self.world.store.items("kube.node_down"):
            if not down["counted"] and down["fault"] not in alive:
                self._up(key)
        for cluster in self.kube.clusters() if alive else ():
            for node in self.kube.list(cluster, "nodes"):
                name = node["metadata"]["name"]
                if self.world.store.get("kube.node_down", f"{cluster}/{name}") is None:
                    fault = self.world.faults.take("node_not_ready", "kubernetes", "", f"{cluster} {name}")
                    if fault is not None:
                        self._down(f"{cluster}/{name}", fault)

    def _down(self, key: str, fault: Obj) -> None:
        counted = fault.get("count") is not None
        self.world.store.put("kube.node_down", key, {"fault": fault["id"], "counted": counted})
        seconds = fault.get("delay_seconds") or (RECOVERY_SECONDS if counted else None)
        if seconds:
            self.world.timers.after(float(seconds), "kube.node.recover", key)
        self.world.work.enqueue("kube.node.state", key)

    def _recover(self, key: str, _payload: Obj) -> None:
        self._up(key)

    def _up(self, key: str) -> None:
        self.world.store.delete("kube.node_down", key)
        self.world.timers.cancel("kube.node.recover", key)
        self.world.work.enqueue("kube.node.state", key)
        cluster, _, name = key.partition("/")
        for pod in self.kube.list(cluster, "pods", fields={"spec.nodeName": name}):
            self.world.work.enqueue(
                "kube.kubelet", f"{cluster}/{pod['metadata']['namespace']}/{pod['metadata']['name']}"
            )


def _owner(node: Obj) -> Obj:
    return {"apiVersion": "v1", "kind": "Node", "name": node["metadata"]["name"], "uid": node["metadata"]["uid"]}


def _images(pod: Obj) -> list[str]:
    return [c.get("image") or "" for c in pod["spec"].get("containers") or []]


def _system(pod: Obj) -> bool:
    app = (pod["metadata"].get("labels") or {}).get("k8s-app")
    return app in _NETWORK or any("device-plugin" in image for image in _images(pod))


def _running(pod: Obj | None, event: str) -> bool:
    if pod is None or event == "DELETED":
        return False
    return (pod.get("status") or {}).get("phase") == "Running"


def _known_devices(status: Obj) -> dict[str, int]:
    """Devices that were announced before: without their plugin they stay in the capacity and cannot be had."""
    return {name: 0 for name in status.get("capacity") or {} if "/" in name}


def _devices(running: list[Obj], size: Any) -> dict[str, int]:
    """What the device plugins that run on a node announce."""
    found: dict[str, int] = {}
    for pod in running:
        for image in _images(pod):
            if "aws-efa-k8s-device-plugin" in image and size.efas:
                found["vpc.amazonaws.com/efa"] = size.efas
            elif "neuron-device-plugin" in image and size.neurons:
                found |= {"aws.amazon.com/neuron": size.neurons, "aws.amazon.com/neurondevice": size.neurons}
                found["aws.amazon.com/neuroncore"] = size.neurons * 2
            elif "k8s-device-plugin" in image and size.gpus:
                found["nvidia.com/gpu"] = size.gpus
    return found
