"""Indexes over the objects of all clusters that controllers look things up in; rebuilt from the store when in doubt."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from instantstart_sandbox.controllers.amounts import Amounts, host_ports, pod_requests
from instantstart_sandbox.kube.objects import KubeApi

Obj = dict[str, Any]
Key = tuple[str, str]
"""(namespace, name)."""
Child = tuple[str, str, str]
"""(resource, namespace or '', name)."""


def finished(pod: Obj) -> bool:
    """Whether a pod has ended for good."""
    return (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")


def pinned_node(spec: Obj) -> str | None:
    """The one node that a DaemonSet's pod is meant for."""
    affinity = ((spec.get("affinity") or {}).get("nodeAffinity") or {}).get(
        "requiredDuringSchedulingIgnoredDuringExecution"
    )
    terms = (affinity or {}).get("nodeSelectorTerms") or []
    for item in terms[0].get("matchFields") or [] if terms else []:
        if item["key"] == "metadata.name" and item["operator"] == "In" and len(item["values"]) == 1:
            return str(item["values"][0])
    return None


def node_of(pod: Obj) -> str:
    """The node that a daemon pod runs on or is meant for."""
    return str(pod["spec"].get("nodeName") or pinned_node(pod["spec"]) or "")


@dataclass
class Usage:
    """What the pods of one node take."""

    amounts: Amounts = field(default_factory=dict)
    pods: int = 0
    ports: dict[tuple[str, int], int] = field(default_factory=dict)

    def count(self, asked: Amounts, ports: set[tuple[str, int]], sign: int) -> None:
        """Add or take away a pod."""
        self.pods += sign
        for name, value in asked.items():
            self.amounts[name] = self.amounts.get(name, 0) + sign * value
        for port in ports:
            self.ports[port] = self.ports.get(port, 0) + sign


@dataclass
class ClusterIndex:
    """The indexes of one cluster."""

    children: dict[str, dict[Child, Obj]] = field(default_factory=dict)
    usage: dict[str, Usage] = field(default_factory=dict)
    counted: dict[Key, tuple[str, Amounts, set[tuple[str, int]]]] = field(default_factory=dict)
    pending: set[Key] = field(default_factory=set)
    repelling: set[Key] = field(default_factory=set)
    """Pods on nodes with a required anti-affinity of their own."""
    daemons: dict[tuple[str, str], dict[Key, Obj]] = field(default_factory=dict)
    """(uid of a DaemonSet, node) to its pods that run there or are meant for it."""
    claims: dict[Key, set[str]] = field(default_factory=dict)
    """(namespace, claim) to the names of unfinished pods that use it."""


class Index:
    """All clusters' indexes, kept by the changes and made anew after a rollback or a restart."""

    def __init__(self, kube: KubeApi) -> None:
        self._kube = kube
        self._clusters: dict[str, ClusterIndex] = {}
        self._stale = True
        kube.world.store.on_rollback.append(self._doubt)
        kube.engine.store.on_cluster_end.append(self._forget)

    def _doubt(self) -> None:
        self._stale = True

    def _forget(self, cluster: str) -> None:
        self._clusters.pop(cluster, None)

    def of(self, cluster: str) -> ClusterIndex:
        """The indexes of a cluster."""
        if self._stale:
            self._rebuild()
        found = self._clusters.get(cluster)
        if found is None:
            found = self._clusters[cluster] = ClusterIndex()
        return found

    def _rebuild(self) -> None:
        self._stale, self._clusters = False, {}
        for name, state in self._kube.engine.store.clusters.items():
            for resource, table in state.tables.items():
                if resource != "events":
                    for entry in table.entries.values():
                        self._put(self.of(name), resource, entry.obj)

    def change(self, cluster: str, resource: str, event: str, obj: Obj, old: Obj | None) -> None:
        """Follow one change."""
        if self._stale or resource == "events":
            return
        at = self.of(cluster)
        if old is not None:
            self._drop(at, resource, old, gone=event == "DELETED")
        if event != "DELETED":
            self._put(at, resource, obj)

    def _put(self, at: ClusterIndex, resource: str, obj: Obj) -> None:
        meta = obj["metadata"]
        for owner in meta.get("ownerReferences") or ():
            place = (resource, meta.get("namespace") or "", meta["name"])
            at.children.setdefault(owner["uid"], {})[place] = obj
            if resource == "pods" and owner["kind"] == "DaemonSet":
                key = (meta["namespace"], meta["name"])
                at.daemons.setdefault((owner["uid"], node_of(obj)), {})[key] = obj
        if resource == "pods":
            self._put_pod(at, obj)

    @staticmethod
    def _put_pod(at: ClusterIndex, pod: Obj) -> None:
        meta, spec = pod["metadata"], pod["spec"]
        key = (meta["namespace"], meta["name"])
        if finished(pod):
            return
        for volume in spec.get("volumes") or ():
            if "persistentVolumeClaim" in volume:
                claim = (meta["namespace"], volume["persistentVolumeClaim"]["claimName"])
                at.claims.setdefault(claim, set()).add(meta["name"])
        node = spec.get("nodeName")
        if not node:
            at.pending.add(key)
            return
        asked, ports = pod_requests(spec), host_ports(spec)
        at.counted[key] = (node, asked, ports)
        at.usage.setdefault(node, Usage()).count(asked, ports, 1)
        if ((spec.get("affinity") or {}).get("podAntiAffinity") or {}).get(
            "requiredDuringSchedulingIgnoredDuringExecution"
        ):
            at.repelling.add(key)

    def _drop(self, at: ClusterIndex, resource: str, old: Obj, gone: bool) -> None:
        meta = old["metadata"]
        for owner in meta.get("ownerReferences") or ():
            places = at.children.get(owner["uid"])
            if places is not None:
                places.pop((resource, meta.get("namespace") or "", meta["name"]), None)
                if not places and gone:
                    at.children.pop(owner["uid"], None)
            if resource == "pods" and owner["kind"] == "DaemonSet":
                daemons = at.daemons.get((owner["uid"], node_of(old)), {})
                daemons.pop((meta["namespace"], meta["name"]), None)
                if not daemons:
                    at.daemons.pop((owner["uid"], node_of(old)), None)
        if resource == "pods":
            self._drop_pod(at, old)

    @staticmethod
    def _drop_pod(at: ClusterIndex, pod: Obj) -> None:
        meta = pod["metadata"]
        key = (meta["namespace"], meta["name"])
        at.pending.discard(key)
        at.repelling.discard(key)
        for volume in pod["spec"].get("volumes") or ():
            if "persistentVolumeClaim" in volume:
                users = at.claims.get((meta["namespace"], volume["persistentVolumeClaim"]["claimName"]))
                if users is not None:
                    users.discard(meta["name"])
        counted = at.counted.pop(key, None)
        if counted is not None:
            node, asked, ports = counted
            usage = at.usage.get(node)
            if usage is not None:
                usage.count(asked, ports, -1)
                if not usage.pods:
                    del at.usage[node]

    def owned(self, cluster: str, uid: str, resource: str) -> list[Obj]:
        """Objects of a resource with an owner of that uid, by name."""
        places = self.of(cluster).children.get(uid, {})
        return [places[p] for p in sorted(p for p in places if p[0] == resource)]
