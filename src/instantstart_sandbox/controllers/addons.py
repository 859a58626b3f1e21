"""Add-on workloads: made, changed and removed as the `eks.addon` documents say; their health is told back.

Health is a document `kube.addon_health` {healthy, code, message}; what EKS makes of it is EKS' business.
"""

from __future__ import annotations

from typing import Any

from instantstart_sandbox.controllers.addon_manifests import configuration, manifests
from instantstart_sandbox.controllers.plane import Plane
from instantstart_sandbox.kube.objects import ApiError

Obj = dict[str, Any]
_RECORD, _HEALTH = "kube.addon_objects", "kube.addon_health"
SHORT = "InsufficientNumberOfReplicas"
SHORT_TEXT = "The add-on is unhealthy because it doesn't have the desired number of replicas."
_THERE = ("CREATING", "ACTIVE", "DEGRADED", "UPDATING", "UPDATE_FAILED")
_KEPT = ("namespaces", "customresourcedefinitions.apiextensions.k8s.io")


class Addons:
    """Follows the add-on documents of all clusters."""

    def __init__(self, plane: Plane) -> None:
        self.plane, self.world, self.kube = plane, plane.world, plane.kube
        self.world.work.on("kube.addon", self._sync)
        self.world.work.on("kube.addon.health", self._health)
        self.world.store.subscribe("eks.addon", self._doc_changed)
        self.world.store.subscribe("kube.cluster", self._cluster_changed)

    def start(self) -> None:
        """Look at every add-on once."""
        for kind in ("eks.addon", _RECORD):
            for key, _ in self.world.store.items(kind):
                self.world.work.enqueue("kube.addon", key)

    def _doc_changed(self, key: str, old: Obj | None, new: Obj | None) -> None:
        fields = ("status", "addonVersion", "configurationValues", "serviceAccountRoleArn")
        if old is None or new is None or any(old.get(f) != new.get(f) for f in fields):
            self.world.work.enqueue("kube.addon", key)

    def _cluster_changed(self, name: str, old: Obj | None, new: Obj | None) -> None:
        if new is None:
            for kind in (_RECORD, _HEALTH):
                for key, _ in self.world.store.items(kind, f"{name}/"):
                    self.world.store.delete(kind, key)
        elif old is None:
            for key, _ in self.world.store.items("eks.addon", f"{name}/"):
                self.world.work.enqueue("kube.addon", key)

    def workload_changed(self, cluster: str, obj: Obj) -> None:
        """A workload changed: if an add-on owns it, its health is looked at."""
        addon = (obj["metadata"].get("labels") or {}).get("app.kubernetes.io/instance")
        if addon and self.world.store.get(_RECORD, f"{cluster}/{addon}") is not None:
            self.world.work.enqueue("kube.addon.health", f"{cluster}/{addon}")

    def _sync(self, key: str) -> None:
        cluster, _, addon = key.partition("/")
        doc = self.world.store.get("eks.addon", key)
        if not self.kube.has_cluster(cluster):
            return
        record = self.world.store.get(_RECORD, key)
        if doc is None or doc["status"] == "DELETING":
            if record is not None:
                self.remove_workloads(cluster, addon, preserve=bool((doc or {}).get("preserve")))
        elif doc["status"] in _THERE:
            wanted = _mark(doc)
            if record is None or record["mark"] != wanted:
                self.create_workloads(
                    cluster,
                    addon,
                    configuration(doc.get("configurationValues")),
                    role=doc.get("serviceAccountRoleArn"),
                    namespace=(doc.get("namespaceConfig") or {}).get("namespace"),
                    mark=wanted,
                )

    def create_workloads(
        self,
        cluster: str,
        addon: str,
        config: Obj,
        *,
        role: str | None = None,
        namespace: str | None = None,
        mark: list[Any] | None = None,
    ) -> None:
        """Create or change an add-on's objects. `config` is the parsed configurationValues."""
        made: list[list[str]] = []
        for manifest in manifests(addon, config, role, namespace):
            place = self._apply(cluster, manifest)
            if place is not None:
                made.append(place)
        key = f"{cluster}/{addon}"
        self.world.store.put(_RECORD, key, {"objects": made, "mark": mark or []})
        self.world.work.enqueue("kube.addon.health", key)

    def _apply(self, cluster: str, manifest: Obj) -> list[str] | None:
        state = self.kube.engine.cluster(cluster)
        group, _, version = manifest["apiVersion"].rpartition("/")
        kinds = self.kube.engine.all_kinds(state)
        kind = next(k for k in kinds if (k.group, k.version, k.kind) == (group, version, manifest["kind"]))
        meta = manifest["metadata"]
        if kind.key in _KEPT and self.kube.get(cluster, kind.key, None, meta["name"]) is not None:
            return None
        try:
            self.kube.apply(cluster, manifest)
        except ApiError as error:
            if error.code not in (409, 422):
                raise
        return [kind.key, meta.get("namespace", "") if kind.namespaced else "", meta["name"]]

    def remove_workloads(self, cluster: str, addon: str, *, preserve: bool = False) -> None:
        """Delete an add-on's objects (not its namespace and custom kinds), or only forget them."""
        key = f"{cluster}/{addon}"
        record = self.world.store.delete(_RECORD, key)
        self.world.store.delete(_HEALTH, key)
        if record is None or preserve:
            return
        for resource, namespace, name in reversed(record["objects"]):
            if resource not in _KEPT:
                self.kube.delete(cluster, resource, namespace or None, name)

    def _health(self, key: str) -> None:
        cluster = key.partition("/")[0]
        record = self.world.store.get(_RECORD, key)
        if record is None or not self.kube.has_cluster(cluster):
            return
        short = False
        for resource, namespace, name in record["objects"]:
            if resource not in ("deployments.apps", "daemonsets.apps"):
                continue
            obj = self.kube.get(cluster, resource, namespace, name)
            status = (obj or {}).get("status") or {}
            if obj is None:
                short = True
            elif resource == "deployments.apps":
                short = short or status.get("availableReplicas", 0) < obj["spec"].get("replicas", 1)
            else:
                short = short or status.get("numberAvailable", 0) < status.get("desiredNumberScheduled", 0)
        found = {"healthy": not short, "code": SHORT if short else "", "message": SHORT_TEXT if short else ""}
        if self.world.store.get(_HEALTH, key) != found:
            self.world.store.put(_HEALTH, key, found)


def _mark(doc: Obj) -> list[Any]:
    """What of an add-on's document decides its objects."""
    return [doc.get("addonVersion"), doc.get("configurationValues"), doc.get("serviceAccountRoleArn")]
