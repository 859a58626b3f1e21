"""Endpoints and EndpointSlices of Services with a selector: the addresses of their pods, ready ones apart."""

from __future__ import annotations

from typing import Any

from instantstart_sandbox.controllers.plane import Plane, is_true, join, owner_reference, split

Obj = dict[str, Any]
_SLICES = "endpointslices.discovery.k8s.io"
_LARGEST = 1000


class EndpointLists:
    """Keeps one Endpoints object and one slice per Service (more than 1,000 addresses are cut off)."""

    def __init__(self, plane: Plane) -> None:
        self.plane, self.world, self.kube = plane, plane.world, plane.kube
        self.world.work.on("kube.endpoints", self._sync)
        self.world.timers.on("kube.endpoints.later", self._later)

    def _later(self, key: str, _payload: Obj) -> None:
        self.world.work.enqueue("kube.endpoints", key)

    def service_changed(self, cluster: str, event: str, service: Obj, old: Obj | None) -> None:
        """A Service is new, has another selector or other ports, or is gone."""
        self.world.work.enqueue("kube.endpoints", join(cluster, service))

    def pod_changed(self, cluster: str, event: str, pod: Obj, old: Obj | None) -> None:
        """A pod's address, labels or readiness changed; what comes in a crowd is gathered for a second."""
        if event != "DELETED" and old is not None and _seen(pod) == _seen(old):
            return
        labels = pod["metadata"].get("labels") or {}
        former = (old or pod)["metadata"].get("labels") or {}
        for service in self.kube.list(cluster, "services", pod["metadata"]["namespace"]):
            selector = service["spec"].get("selector")
            if selector and (selector.items() <= labels.items() or selector.items() <= former.items()):
                key = join(cluster, service)
                if not self.world.timers.pending("kube.endpoints.later", key):
                    self.world.timers.after(1.0, "kube.endpoints.later", key)

    def _sync(self, key: str) -> None:
        cluster, namespace, name = split(key)
        service = self.kube.get(cluster, "services", namespace, name)
        if service is None:
            self.kube.delete(cluster, "endpoints", namespace, name)
            return
        selector = service["spec"].get("selector")
        if not selector or "deletionTimestamp" in service["metadata"]:
            return
        pods = self.kube.list(cluster, "pods", namespace, dict(selector))
        placed = [p for p in pods if (p.get("status") or {}).get("podIP") and p["status"].get("phase") == "Running"]
        placed = sorted(placed, key=lambda p: p["metadata"]["name"])[:_LARGEST]
        self._slice(cluster, service, placed)
        self._classic(cluster, service, placed)

    def _slice(self, cluster: str, service: Obj, pods: list[Obj]) -> None:
        meta = service["metadata"]
        mark = "kubernetes.io/service-name"
        old = self.kube.list(cluster, _SLICES, meta["namespace"], {mark: meta["name"]})
        ports = [
            {"name": p.get("name", ""), "port": number, "protocol": p.get("protocol", "TCP")}
            for p in service["spec"].get("ports") or ()
            if (number := _port(p, pods)) is not None
        ]
        found = [self._endpoint(cluster, p) for p in pods]
        body = {"addressType": "IPv4", "endpoints": found, "ports": ports}
        if old:
            self.plane.write(cluster, _SLICES, {**old[0], **body}, old[0])
            return
        labels = {
            **(meta.get("labels") or {}),
            mark: meta["name"],
            "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
        }
        if service["spec"].get("clusterIP") == "None":
            labels["service.kubernetes.io/headless"] = ""
        head = {
            "generateName": f"{meta['name']}-",
            "namespace": meta["namespace"],
            "labels": labels,
            "ownerReferences": [owner_reference(service)],
        }
        self.plane.create(cluster, _SLICES, {"metadata": head, **body})

    def _endpoint(self, cluster: str, pod: Obj) -> Obj:
        ready = is_true(pod["status"], "Ready")
        going = "deletionTimestamp" in pod["metadata"]
        node = self.kube.get(cluster, "nodes", None, pod["spec"].get("nodeName", ""))
        zone = ((node or {}).get("metadata", {}).get("labels") or {}).get("topology.kubernetes.io/zone")
        return {
            "addresses": [pod["status"]["podIP"]],
            "conditions": {"ready": ready and not going, "serving": ready, "terminating": going},
            "nodeName": pod["spec"].get("nodeName"),
            "targetRef": _target(pod),
            **({"zone": zone} if zone else {}),
        }

    def _classic(self, cluster: str, service: Obj, pods: list[Obj]) -> None:
        meta = service["metadata"]
        ports = [
            {**({"name": p["name"]} if p.get("name") else {}), "port": number, "protocol": p.get("protocol", "TCP")}
            for p in service["spec"].get("ports") or ()
            if (number := _port(p, pods)) is not None
        ]
        groups: dict[str, list[Obj]] = {"addresses": [], "notReadyAddresses": []}
        for pod in pods:
            if "deletionTimestamp" in pod["metadata"]:
                continue
            where = "addresses" if is_true(pod["status"], "Ready") else "notReadyAddresses"
            groups[where].append(
                {"ip": pod["status"]["podIP"], "nodeName": pod["spec"].get("nodeName"), "targetRef": _target(pod)}
            )
        held = {k: v for k, v in groups.items() if v}
        subsets = [{**held, "ports": ports}] if held else []
        old = self.kube.get(cluster, "endpoints", meta["namespace"], meta["name"])
        if old is None:
            labels = {**(meta.get("labels") or {}), "endpoints.kubernetes.io/managed-by": "endpoint-controller"}
            head = {"name": meta["name"], "namespace": meta["namespace"], "labels": labels}
            self.plane.create(cluster, "endpoints", {"metadata": head, **({"subsets": subsets} if subsets else {})})
            return
        new = {k: v for k, v in old.items() if k != "subsets"} | ({"subsets": subsets} if subsets else {})
        self.plane.write(cluster, "endpoints", new, old)


def _seen(pod: Obj) -> tuple[Any, ...]:
    status = pod.get("status") or {}
    meta = pod["metadata"]
    return (
        status.get("podIP"), status.get("phase"), is_true(status, "Ready"), meta.get("labels"), "deletionTimestamp" in meta
    )  # fmt: skip


def _target(pod: Obj) -> Obj:
    meta = pod["metadata"]
    return {"kind": "Pod", "name": meta["name"], "namespace": meta["namespace"], "uid": meta["uid"]}


def _port(port: Obj, pods: list[Obj]) -> int | None:
    """The number behind a target port; a name is looked up in the first pod that has it."""
    target = port.get("targetPort") or port["port"]
    if isinstance(target, int):
        return target
    for pod in pods:
        for container in pod["spec"]["containers"]:
            for item in container.get("ports") or ():
                if item.get("name") == target:
                    return int(item["containerPort"])
    return None
