"""What goes with what: objects with their owners (background, foreground, orphan), and everything with its namespace."""

from __future__ import annotations

from typing import Any

from instantstart_sandbox.controllers.plane import Plane
from instantstart_sandbox.kube.bootstrap import furnish
from instantstart_sandbox.kube.engine import DeleteOptions

Obj = dict[str, Any]
FOREGROUND, ORPHAN = "foregroundDeletion", "orphan"


class Garbage:
    """Deletes what belongs to deleted owners."""

    def __init__(self, plane: Plane) -> None:
        self.plane, self.world, self.kube = plane, plane.world, plane.kube
        self.world.work.on("kube.garbage.owner", self._owner_gone)
        self.world.work.on("kube.garbage.going", self._going)

    def changed(self, cluster: str, resource: str, event: str, obj: Obj) -> None:
        """Any object of any kind changed."""
        meta = obj["metadata"]
        if event == "DELETED":
            if meta["uid"] in self.plane.index.of(cluster).children:
                self.world.work.enqueue("kube.garbage.owner", f"{cluster}/{meta['uid']}")
            for owner in meta.get("ownerReferences") or ():
                self._tell_owner(cluster, meta.get("namespace") or "", owner)
        elif "deletionTimestamp" in meta and {FOREGROUND, ORPHAN} & set(meta.get("finalizers") or ()):
            self._enqueue(cluster, resource, obj)

    def _enqueue(self, cluster: str, resource: str, obj: Obj) -> None:
        meta = obj["metadata"]
        key = f"{cluster}/{resource}/{meta.get('namespace') or '-'}/{meta['name']}"
        self.world.work.enqueue("kube.garbage.going", key)

    def _tell_owner(self, cluster: str, namespace: str, owner: Obj) -> None:
        """A child of an owner that waits for its children went."""
        if not owner.get("blockOwnerDeletion"):
            return
        found = self._find_owner(cluster, namespace, owner)
        if found is not None and FOREGROUND in (found[1]["metadata"].get("finalizers") or ()):
            self._enqueue(cluster, found[0], found[1])

    def _find_owner(self, cluster: str, namespace: str, owner: Obj) -> tuple[str, Obj] | None:
        group = owner["apiVersion"].rpartition("/")[0]
        state = self.kube.engine.store.clusters.get(cluster)
        for kind in self.kube.engine.all_kinds(state) if state is not None else ():
            if (kind.kind, kind.group) == (owner["kind"], group):
                found = self.kube.get(cluster, kind.key, namespace if kind.namespaced else None, owner["name"])
                if found is not None and found["metadata"]["uid"] == owner["uid"]:
                    return kind.key, found
                return None
        return None

    def _children(self, cluster: str, uid: str) -> list[tuple[str, Obj]]:
        found = self.plane.index.of(cluster).children.get(uid, {})
        return [(place[0], found[place]) for place in sorted(found)]

    def _owner_gone(self, key: str) -> None:
        cluster, _, uid = key.partition("/")
        for resource, child in self._children(cluster, uid):
            self._drop(cluster, resource, child, uid, "Background")

    def _drop(self, cluster: str, resource: str, child: Obj, uid: str, propagation: str) -> None:
        """Delete a child whose last owner goes; of one with other owners only the reference is taken away."""
        meta = child["metadata"]
        others = [o for o in meta["ownerReferences"] if o["uid"] != uid]
        alive = [o for o in others if self._find_owner(cluster, meta.get("namespace") or "", o) is not None]
        if alive:
            self.plane.write(cluster, resource, {**child, "metadata": {**meta, "ownerReferences": alive}}, child)
        elif "deletionTimestamp" not in meta:
            self.kube.delete(cluster, resource, meta.get("namespace"), meta["name"], propagation=propagation)

    def _going(self, key: str) -> None:
        cluster, resource, namespace, name = key.split("/", 3)
        place = None if namespace == "-" else namespace
        obj = self.kube.get(cluster, resource, place, name)
        if obj is None or "deletionTimestamp" not in obj["metadata"]:
            return
        meta = obj["metadata"]
        children = self._children(cluster, meta["uid"])
        if ORPHAN in meta.get("finalizers", ()):
            for kind, child in children:
                rest = [o for o in child["metadata"]["ownerReferences"] if o["uid"] != meta["uid"]]
                data = {k: v for k, v in child["metadata"].items() if k != "ownerReferences"}
                data |= {"ownerReferences": rest} if rest else {}
                self.plane.write(cluster, kind, {**child, "metadata": data}, child)
            self.kube.finalize(cluster, resource, place, name, ORPHAN)
        elif FOREGROUND in meta.get("finalizers", ()):
            blocking = False
            for kind, child in children:
                self._drop(cluster, kind, child, meta["uid"], "Foreground" if _deep(kind) else "Background")
                held = [o for o in child["metadata"]["ownerReferences"] if o["uid"] == meta["uid"]]
                blocking = blocking or bool(held[0].get("blockOwnerDeletion"))
            left = self._children(cluster, meta["uid"])
            if not left or not blocking:
                self.kube.finalize(cluster, resource, place, name, FOREGROUND)


def _deep(resource: str) -> bool:
    return resource not in ("pods", "endpointslices.discovery.k8s.io")


class Namespaces:
    """Furnishes new namespaces, and empties those that are to go."""

    def __init__(self, plane: Plane) -> None:
        self.plane, self.world, self.kube = plane, plane.world, plane.kube
        self.world.work.on("kube.namespace", self._sync)

    def changed(self, cluster: str, event: str, namespace: Obj) -> None:
        """A namespace is new, or going."""
        if event != "DELETED":
            self.world.work.enqueue("kube.namespace", f"{cluster}/{namespace['metadata']['name']}")

    def content_changed(self, cluster: str, event: str, obj: Obj) -> None:
        """Something in a namespace went: it may have been the last."""
        name = obj["metadata"].get("namespace")
        if event == "DELETED" and name:
            space = self.kube.get(cluster, "namespaces", None, name)
            if space is not None and "deletionTimestamp" in space["metadata"]:
                self.world.work.enqueue("kube.namespace", f"{cluster}/{name}")

    def _sync(self, key: str) -> None:
        cluster, _, name = key.partition("/")
        space = self.kube.get(cluster, "namespaces", None, name)
        if space is None:
            return
        if "deletionTimestamp" not in space["metadata"]:
            furnish(self.kube, cluster, name)
            return
        state = self.kube.engine.cluster(cluster)
        left = 0
        for resource, table in list(state.tables.items()):
            for entry in list(table.scan(name)):
                kind = self.kube.engine.kind_of(state, resource)
                if "deletionTimestamp" not in entry.obj["metadata"]:
                    self.kube.engine.delete(state, kind, entry.obj, DeleteOptions(propagation="Background"))
            left += sum(1 for _ in table.scan(name))
        if not left:
            self.kube.finalize(cluster, "namespaces", None, name, "kubernetes")
