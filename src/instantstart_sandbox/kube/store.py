"""Objects of all clusters: kept in the world's store, indexed in memory, with a window of past changes for watches.

An object that was read must not be changed in place. Changes reach watchers only after their transaction.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson

from instantstart_sandbox.world import World

Obj = dict[str, Any]
Key = tuple[str, str]
"""(namespace or '', name)."""
Subscriber = Callable[[str, str, str, Obj, Obj | None], None]
WINDOW = 4000
_RESERVE = 1000


@dataclass(slots=True)
class Change:
    """One change: `kind` is ADDED, MODIFIED or DELETED; `old` is what was there before."""

    version: int
    kind: str
    obj: Obj
    old: Obj | None


Listener = Callable[[Change], None]


class Entry:
    """A stored object and, once somebody listed it, its encoded form without apiVersion and kind."""

    __slots__ = ("_tail", "obj")

    def __init__(self, obj: Obj) -> None:
        self.obj = obj
        self._tail: bytes | None = None

    @property
    def tail(self) -> bytes:
        """The object's JSON without apiVersion and kind and without the opening brace."""
        if self._tail is None:
            self._tail = tail_of(self.obj)
        return self._tail


def tail_of(obj: Obj) -> bytes:
    """JSON of an object without apiVersion, kind and the opening brace."""
    return orjson.dumps({k: v for k, v in obj.items() if k not in ("apiVersion", "kind")})[1:]


def place(key: Key) -> str:
    """Where a key stands in a list: as the path `namespace/name` sorts."""
    return f"{key[0]}/{key[1]}"


def key_of(obj: Obj) -> Key:
    """Namespace and name."""
    meta = obj["metadata"]
    return meta.get("namespace") or "", meta["name"]


@dataclass
class Table:
    """One resource of one cluster."""

    entries: dict[Key, Entry] = field(default_factory=dict)
    by_namespace: dict[str, dict[str, Entry]] = field(default_factory=dict)
    by_node: dict[str, dict[Key, Entry]] = field(default_factory=dict)
    history: deque[Change] = field(default_factory=lambda: deque(maxlen=WINDOW))
    floor: int = 0
    """Changes up to this version are no longer known."""
    listeners: list[Listener] = field(default_factory=list)
    _sorted: list[Key] | None = None

    def put(self, obj: Obj) -> None:
        """Index an object, replacing its former version."""
        key = key_of(obj)
        if key not in self.entries:
            self._sorted = None
        else:
            self._drop_node(key)
        entry = Entry(obj)
        self.entries[key] = entry
        self.by_namespace.setdefault(key[0], {})[key[1]] = entry
        node = (obj.get("spec") or {}).get("nodeName")
        if node:
            self.by_node.setdefault(node, {})[key] = entry

    def remove(self, key: Key) -> None:
        """Forget an object."""
        if key in self.entries:
            self._drop_node(key)
            del self.entries[key]
            self.by_namespace[key[0]].pop(key[1], None)
            self._sorted = None

    def _drop_node(self, key: Key) -> None:
        node = (self.entries[key].obj.get("spec") or {}).get("nodeName")
        if node:
            self.by_node.get(node, {}).pop(key, None)

    def sorted_keys(self) -> list[Key]:
        """All keys by namespace, then name."""
        if self._sorted is None:
            self._sorted = sorted(self.entries, key=place)
        return self._sorted

    def scan(self, namespace: str | None = None, node: str | None = None) -> Iterator[Entry]:
        """Entries in key order, of one namespace or one node where given."""
        if node is not None:
            found = self.by_node.get(node, {})
            for key in sorted(found):
                if namespace is None or key[0] == namespace:
                    yield found[key]
        elif namespace is not None:
            names = self.by_namespace.get(namespace, {})
            for name in sorted(names):
                yield names[name]
        else:
            for key in self.sorted_keys():
                yield self.entries[key]

    def record(self, change: Change) -> None:
        """Remember a change and tell the watchers."""
        if len(self.history) == WINDOW:
            self.floor = self.history[0].version
        self.history.append(change)
        for listener in list(self.listeners):
            listener(change)


class ClusterState:
    """The objects of one cluster; `version` is the last resourceVersion given out."""

    def __init__(self, name: str, doc: Obj) -> None:
        self.name = name
        self.doc = doc
        self.version: int = doc["rv"]
        self.start: int = doc["rv"]
        self.tables: dict[str, Table] = {}

    def table(self, key: str) -> Table:
        """The table of a resource key, made on first use."""
        found = self.tables.get(key)
        if found is None:
            found = self.tables[key] = Table(floor=self.start)
        return found


class ObjectStore:
    """All clusters. Writes join the world's transaction; a rollback undoes the indexes too."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.clusters: dict[str, ClusterState] = {}
        self.subscribers: list[Subscriber] = []
        self.on_cluster_end: list[Callable[[str], None]] = []
        self._undo: list[Callable[[], None]] = []
        self._pending: list[tuple[Table, Change]] = []
        world.store.after_commit.insert(0, self._committed)
        world.store.on_rollback.append(self._rolled_back)
        self.load()

    def load(self) -> None:
        """Rebuild everything from the world's store."""
        self.clusters = {}
        for name, doc in self.world.store.items("kube.cluster"):
            self.clusters[name] = ClusterState(name, doc)
        for key, obj in self.world.store.items("kube.object"):
            cluster, resource, _ = key.split("/", 2)
            if cluster in self.clusters:
                self.clusters[cluster].table(resource).put(obj)

    def add_cluster(self, name: str, doc: Obj) -> ClusterState:
        """Begin a cluster; its resourceVersions start at 1."""
        self.world.store.put("kube.cluster", name, {**doc, "rv": 1})
        state = ClusterState(name, {**doc, "rv": 1})
        self.clusters[name] = state
        self._undo.append(lambda: self.clusters.__delitem__(name))
        return state

    def forget_history(self, name: str) -> None:
        """What was written up to now cannot be watched from the past: watches start here."""
        state = self.clusters[name]
        self._pending = []
        state.start = state.version
        for table in state.tables.values():
            table.floor = state.version
            table.history.clear()

    def drop_cluster(self, name: str) -> None:
        """Forget a cluster and all its objects; nobody is told of the single objects."""
        state = self.clusters.pop(name, None)
        if state is None:
            return
        for key, table in state.tables.items():
            for namespace, obj_name in table.entries:
                self.world.store.delete("kube.object", f"{name}/{key}/{namespace or '-'}/{obj_name}")
        self.world.store.delete("kube.cluster", name)
        self._undo.append(lambda: self.clusters.update({name: state}))
        for fn in self.on_cluster_end:
            fn(name)

    def next_version(self, state: ClusterState) -> int:
        """The next resourceVersion; blocks of them are reserved on disk, so that a restart never goes back."""
        state.version += 1
        doc = self.world.store.get("kube.cluster", state.name)
        if doc is not None and state.version > doc["rv"]:
            self.world.store.put("kube.cluster", state.name, {**doc, "rv": state.version + _RESERVE})
        return state.version

    def write(self, state: ClusterState, key: str, obj: Obj, old: Obj | None) -> Obj:
        """Store an object under a new resourceVersion, tell subscribers, and watchers after the commit."""
        with self.world.store.transaction():
            version = self.next_version(state)
            obj["metadata"]["resourceVersion"] = str(version)
            table = state.table(key)
            self.world.store.put("kube.object", self._doc_key(state, key, obj), obj)
            table.put(obj)
            if old is None:
                self._undo.append(lambda: table.remove(key_of(obj)))
            else:
                self._undo.append(lambda: table.put(old))
            self._tell(state, key, Change(version, "MODIFIED" if old else "ADDED", obj, old))
        return obj

    def remove(self, state: ClusterState, key: str, obj: Obj) -> Obj:
        """Take an object away; returns it with the version of its deletion."""
        with self.world.store.transaction():
            version = self.next_version(state)
            last = {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(version)}}
            table = state.table(key)
            self.world.store.delete("kube.object", self._doc_key(state, key, obj))
            table.remove(key_of(obj))
            self._undo.append(lambda: table.put(obj))
            self._tell(state, key, Change(version, "DELETED", last, obj))
        return last

    @staticmethod
    def _doc_key(state: ClusterState, key: str, obj: Obj) -> str:
        namespace, name = key_of(obj)
        return f"{state.name}/{key}/{namespace or '-'}/{name}"

    def _tell(self, state: ClusterState, key: str, change: Change) -> None:
        self._pending.append((state.table(key), change))
        for fn in self.subscribers:
            fn(state.name, key, change.kind, change.obj, change.old)

    def _committed(self) -> None:
        self._undo = []
        pending, self._pending = self._pending, []
        for table, change in pending:
            table.record(change)

    def _rolled_back(self) -> None:
        undo, self._undo = self._undo, []
        self._pending = []
        for step in reversed(undo):
            step()
