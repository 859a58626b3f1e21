"""The API server from inside: what controllers and other simulated services use, synchronous and without sign-in.

Objects that are answered are the stored ones: copy before changing.
"""

from __future__ import annotations

from typing import Any

from instantstart_sandbox.kube import bootstrap, custom
from instantstart_sandbox.kube.canonical import empty_copy
from instantstart_sandbox.kube.catalog import Kind
from instantstart_sandbox.kube.engine import DeleteOptions, Engine
from instantstart_sandbox.kube.logs import LogBook
from instantstart_sandbox.kube.selectors import field_match, label_match, parse_labels
from instantstart_sandbox.kube.status import ApiError, not_found
from instantstart_sandbox.kube.store import ClusterState, Subscriber
from instantstart_sandbox.world import World

Obj = dict[str, Any]


class KubeApi:
    """`resource` is the `plural.group` string, e.g. "pods", "deployments.apps", "jobs.batch"."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.engine = Engine(world)
        self.logs = LogBook(world)
        self.engine.store.on_cluster_end.append(self.logs.forget)

    # clusters

    def create_cluster(self, name: str, version: str = "1.34", **settings: Any) -> None:
        """Begin a cluster with its namespaces, service accounts, roles and the `kubernetes` Service."""
        with self.world.store.transaction():
            bootstrap.begin(self, name, version, settings)

    def delete_cluster(self, name: str) -> None:
        """Forget a cluster; nothing is told of its single objects."""
        with self.world.store.transaction():
            self.engine.store.drop_cluster(name)

    def clusters(self) -> list[str]:
        """Names of all clusters."""
        return sorted(self.engine.store.clusters)

    def has_cluster(self, name: str) -> bool:
        """Whether there is such a cluster."""
        return name in self.engine.store.clusters

    # reading

    def _at(self, cluster: str, resource: str) -> tuple[ClusterState, Kind]:
        state = self.engine.cluster(cluster)
        return state, self.engine.kind_of(state, resource)

    def served(self, cluster: str, resource: str) -> bool:
        """Whether the cluster knows the resource, e.g. because its definition is there."""
        state = self.engine.store.clusters.get(cluster)
        if state is None:
            return False
        try:
            self.engine.kind_of(state, resource)
        except ApiError:
            return False
        return True

    def get(self, cluster: str, resource: str, namespace: str | None, name: str) -> Obj | None:
        """The stored object, or None."""
        state = self.engine.store.clusters.get(cluster)
        if state is None:
            return None
        entry = state.table(resource).entries.get((namespace or "", name))
        return entry.obj if entry else None

    def list(
        self,
        cluster: str,
        resource: str,
        namespace: str | None = None,
        labels: str | dict[str, str] | None = None,
        fields: dict[str, str] | None = None,
    ) -> list[Obj]:
        """Stored objects by namespace and name; `labels` is a selector text or a map of wanted values."""
        state = self.engine.store.clusters.get(cluster)
        if state is None:
            return []
        fields = dict(fields or {})
        node = fields.pop("spec.nodeName", None)
        found = [e.obj for e in state.table(resource).scan(namespace, node)]
        if isinstance(labels, dict):
            wanted = labels.items()
            found = [o for o in found if wanted <= (o["metadata"].get("labels") or {}).items()]
        elif labels:
            match = label_match(parse_labels(labels))
            found = [o for o in found if match(o)]
        if fields:
            chosen = field_match([(k, v, True) for k, v in fields.items()])
            found = [o for o in found if chosen(o)]
        return found

    # writing

    def create(self, cluster: str, resource: str, obj: Obj) -> Obj:
        """Store a new object (defaults filled in, generateName followed); ApiError 409 when it exists."""
        state, kind = self._at(cluster, resource)
        with self.world.store.transaction():
            body = self.engine.normal(kind, empty_copy(obj))
            if kind.namespaced:
                body["metadata"].setdefault("namespace", "default")
            return self.engine.create(state, kind, body, trusted=True)

    def _old(self, state: ClusterState, kind: Kind, obj: Obj) -> Obj:
        meta = obj["metadata"]
        return self.engine.get(state, kind, meta.get("namespace", ""), meta["name"])

    def update(self, cluster: str, resource: str, obj: Obj) -> Obj:
        """Store a changed object (its status is kept as stored); 409 when its resourceVersion is not the latest."""
        state, kind = self._at(cluster, resource)
        with self.world.store.transaction():
            body = self.engine.normal(kind, empty_copy(obj), fill=kind.key != "pods")
            return self.engine.update(state, kind, body, self._old(state, kind, obj), trusted=True)

    def update_status(self, cluster: str, resource: str, obj: Obj) -> Obj:
        """Store a changed status; everything but the status and, for built-in kinds, labels and annotations is kept."""
        state, kind = self._at(cluster, resource)
        with self.world.store.transaction():
            body = self.engine.normal(kind, empty_copy(obj), fill=False)
            old = self._old(state, kind, obj)
            return self.engine.update(state, kind, body, old, subresource="status", trusted=True)

    def write(self, cluster: str, resource: str, obj: Obj) -> Obj:
        """Store spec and status together, as no outside client can: for nodes' agents that own both."""
        state, kind = self._at(cluster, resource)
        with self.world.store.transaction():
            body = self.engine.normal(kind, empty_copy(obj), fill=False)
            old = self._old(state, kind, obj)
            return self.engine.update(state, kind, body, old, subresource="both", trusted=True)

    def delete(
        self,
        cluster: str,
        resource: str,
        namespace: str | None,
        name: str,
        *,
        propagation: str = "",
        grace: int | None = None,
    ) -> Obj | None:
        """Delete, or begin to (grace, finalizers); None when there was nothing."""
        state, kind = self._at(cluster, resource)
        old = self.engine.find(state, kind, namespace or "", name)
        if old is None:
            return None
        with self.world.store.transaction():
            return self.engine.delete(state, kind, old, DeleteOptions(grace=grace, propagation=propagation))

    def finalize(self, cluster: str, resource: str, namespace: str | None, name: str, finalizer: str) -> None:
        """Take a finalizer off; the last one of an object that is being deleted ends it."""
        found = self.get(cluster, resource, namespace, name)
        if found is None:
            return
        state, kind = self._at(cluster, resource)
        body = empty_copy(found)
        in_spec = kind.key == "namespaces" and finalizer == "kubernetes"
        holder = body["spec"] if in_spec else body["metadata"]
        holder["finalizers"] = [f for f in holder.get("finalizers") or [] if f != finalizer]
        if not holder["finalizers"]:
            del holder["finalizers"]
        with self.world.store.transaction():
            subresource = "finalize" if in_spec else "both"
            self.engine.update(state, kind, body, found, subresource=subresource, trusted=True)

    def apply(self, cluster: str, manifest: Obj) -> Obj:
        """Create an object or merge a manifest over the stored one, by apiVersion and kind."""
        state = self.engine.cluster(cluster)
        kind = self._kind(state, manifest)
        meta = manifest["metadata"]
        namespace = meta.get("namespace", "default") if kind.namespaced else ""
        old = self.engine.find(state, kind, namespace, meta["name"])
        if old is None:
            return self.create(cluster, kind.key, manifest)
        merged = _merge(empty_copy(old), manifest)
        return self.update(cluster, kind.key, merged)

    def _kind(self, state: ClusterState, manifest: Obj) -> Kind:
        group, _, version = manifest["apiVersion"].rpartition("/")
        for kind in self.engine.all_kinds(state):
            if (kind.group, kind.version, kind.kind) == (group, version, manifest["kind"]):
                return kind
        raise not_found(manifest["kind"], group, manifest["metadata"]["name"])

    def subscribe(self, fn: Subscriber) -> None:
        """Have `fn(cluster, resource, event, obj, old)` called inside the changing transaction.

        `event` is ADDED, MODIFIED or DELETED.
        """
        self.engine.store.subscribers.append(fn)


def _merge(base: Any, over: Any) -> Any:
    if isinstance(base, dict) and isinstance(over, dict):
        return {**base, **{k: _merge(base.get(k), v) for k, v in over.items()}}
    return empty_copy(over)


__all__ = ["ApiError", "KubeApi", "custom"]
