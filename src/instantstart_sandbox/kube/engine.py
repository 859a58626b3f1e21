"""The one place where objects of a cluster are created, changed and deleted, for outside clients and controllers alike.

It knows kinds, defaults, generations, graceful deletion and finalizers; it does not know HTTP, sign-in or patches.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from instantstart_sandbox.kube import admission, canonical, custom, defaults, schema, strategy
from instantstart_sandbox.kube.catalog import STORED_VERSION, Kind, builtin, stored
from instantstart_sandbox.kube.status import (
    STALE,
    ApiError,
    Cause,
    already_exists,
    conflict,
    forbidden,
    invalid,
    not_found,
    success,
)
from instantstart_sandbox.kube.store import ClusterState, ObjectStore, key_of
from instantstart_sandbox.kube.validation import rules as validation
from instantstart_sandbox.world import World

Obj = dict[str, Any]


@dataclass
class DeleteOptions:
    """How an object is to be deleted."""

    grace: int | None = None
    propagation: str = ""
    uid: str = ""
    version: str = ""
    dry_run: bool = False


@dataclass
class CustomKinds:
    """The custom kinds of one cluster by (group, version, plural)."""

    kinds: dict[tuple[str, str, str], Kind] = field(default_factory=dict)
    by_key: dict[str, Kind] = field(default_factory=dict)


class Engine:
    """Create, update and delete with the server's own rules; every method is synchronous."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.store = ObjectStore(world)
        self._custom: dict[str, CustomKinds] = {}
        self.store.subscribers.append(self._watch_definitions)
        world.work.on("kube.end-definition", self._end_definition)
        world.store.on_rollback.append(self._custom.clear)

    # kinds

    def customs(self, state: ClusterState) -> CustomKinds:
        """The cluster's established custom kinds."""
        found = self._custom.get(state.name)
        if found is None:
            found = self._custom[state.name] = CustomKinds()
            for entry in state.table(custom.DEFINITIONS).entries.values():
                if not custom.established(entry.obj):
                    continue
                for kind in custom.kinds_of(entry.obj):
                    found.kinds[(kind.group, kind.version, kind.resource)] = kind
                    if kind.custom.version.get("storage") or kind.key not in found.by_key:
                        found.by_key[kind.key] = kind
        return found

    def _watch_definitions(self, cluster: str, resource: str, _kind: str, _obj: Obj, _old: Obj | None) -> None:
        if resource == custom.DEFINITIONS:
            self._custom.pop(cluster, None)
            if _kind != "DELETED" and "deletionTimestamp" in _obj["metadata"]:
                self.world.work.enqueue("kube.end-definition", f"{cluster}/{_obj['metadata']['name']}")
        elif _kind == "DELETED" and "." in resource and self.store.clusters[cluster].tables.get(custom.DEFINITIONS):
            entry = self.store.clusters[cluster].table(custom.DEFINITIONS).entries.get(("", resource))
            if entry is not None and "deletionTimestamp" in entry.obj["metadata"]:
                self.world.work.enqueue("kube.end-definition", f"{cluster}/{resource}")

    def _end_definition(self, key: str) -> None:
        """Delete the objects of a definition that is going; when none is left, let it go."""
        cluster, _, name = key.partition("/")
        state = self.store.clusters.get(cluster)
        entry = state.table(custom.DEFINITIONS).entries.get(("", name)) if state else None
        if state is None or entry is None or admission.CLEANUP not in entry.obj["metadata"].get("finalizers", []):
            return
        kind = self.customs(state).by_key.get(name)
        left = list(state.table(name).entries.values())
        for found in left:
            if kind is not None and "deletionTimestamp" not in found.obj["metadata"]:
                self.delete(state, kind, found.obj)
        definition = entry.obj
        meta = dict(definition["metadata"])
        if state.table(name).entries and kind is not None:
            if left and not any("InstanceDeletionInProgress" in str(c) for c in definition["status"]["conditions"]):
                fresh = {**definition, "metadata": meta, "status": custom.removing(definition, self.now())}
                self.store.write(state, custom.DEFINITIONS, fresh, definition)
            return
        rest = [f for f in meta["finalizers"] if f != admission.CLEANUP]
        if rest:
            self.store.write(
                state, custom.DEFINITIONS, {**definition, "metadata": {**meta, "finalizers": rest}}, definition
            )
        else:
            self.store.remove(state, custom.DEFINITIONS, definition)

    def resolve(self, state: ClusterState, group: str, version: str, resource: str) -> Kind | None:
        """The kind behind a path; None when it is not served."""
        key = (group, version, resource)
        return builtin().get(key) or self.customs(state).kinds.get(key)

    def kind_of(self, state: ClusterState, key: str) -> Kind:
        """The kind at its stored version, by `plural.group`."""
        found = stored().get(key) or self.customs(state).by_key.get(key)
        if found is None:
            raise not_found(key.partition(".")[0], key.partition(".")[2], "")
        return found

    def all_kinds(self, state: ClusterState) -> list[Kind]:
        """Every kind that the cluster serves, built in and custom, at every version."""
        return [*builtin().values(), *self.customs(state).kinds.values()]

    def cluster(self, name: str) -> ClusterState:
        """The state of a cluster; ApiError 404 when there is none."""
        found = self.store.clusters.get(name)
        if found is None:
            raise ApiError(404, "NotFound", f'cluster "{name}" not found')
        return found

    # reading

    def find(self, state: ClusterState, kind: Kind, namespace: str, name: str) -> Obj | None:
        """The live object, not to be changed in place."""
        entry = state.table(kind.key).entries.get((namespace if kind.namespaced else "", name))
        return entry.obj if entry else None

    def get(self, state: ClusterState, kind: Kind, namespace: str, name: str) -> Obj:
        """The live object; ApiError 404."""
        found = self.find(state, kind, namespace, name)
        if found is None:
            raise not_found(kind.resource, kind.group, name)
        return found

    def now(self) -> str:
        """World time as Kubernetes writes it."""
        return self.world.clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")

    # normal form

    def normal(self, kind: Kind, obj: Obj, unknown: list[str] | None = None, fill: bool = True) -> Obj:
        """A canonical object with defaults at the kind's version; DecodeError when types do not fit."""
        head = {"apiVersion": kind.api_version, "kind": kind.kind}
        findings = canonical.Findings(unknown if unknown is not None else [])
        if kind.struct is not None:
            body = canonical.decode(kind.struct, obj, findings)
            if fill:
                defaults.apply(kind.struct, body)
            return {**head, **body}
        body = {k: v for k, v in obj.items() if k not in ("apiVersion", "kind", "metadata")}
        body = schema.prune(kind.custom.schema, body, findings.unknown)
        meta = canonical.decode_part("meta/v1.ObjectMeta", obj.get("metadata") or {}, findings, "metadata")
        if fill:
            schema.fill(kind.custom.schema, body)
        return {**head, "metadata": meta, **body}

    # writing

    def create(self, state: ClusterState, kind: Kind, obj: Obj, *, trusted: bool = False, dry_run: bool = False) -> Obj:
        """Store a new object, already in normal form with its namespace set."""
        meta = obj["metadata"]
        if not meta.get("name") and meta.get("generateName"):
            meta["name"] = meta["generateName"][:58] + self._suffix()
        strategy.before_create(kind, obj)
        meta["uid"] = self.world.ids.uuid()
        meta["creationTimestamp"] = self.now()
        if kind.namespaced and not (kind.key == "events" and trusted):
            self._namespace_open(state, kind, obj)
        if kind.key == "jobs.batch":
            strategy.finish_job(obj)
        self._refuse_when_ending(kind, obj)
        if not trusted:
            self._check(kind, obj, None)
        admission.on_create(self, state, kind, obj, trusted)
        existing = self.find(state, kind, meta.get("namespace", ""), meta["name"])
        if existing is not None:
            error = already_exists(kind.resource, kind.group, meta["name"])
            if "deletionTimestamp" in existing["metadata"]:
                error.message = "object is being deleted: " + error.message
            raise error
        if dry_run:
            meta.pop("resourceVersion", None)
            return obj
        self.store.write(state, kind.key, self.to_stored(state, kind, obj), None)
        if kind.key == custom.DEFINITIONS:
            self._establish(state, obj)
        return obj

    def _suffix(self) -> str:
        letters = "bcdfghjklmnpqrstvwxz2456789"
        draw = self.world.ids.text(5)
        return "".join(letters[ord(c) % len(letters)] for c in draw)

    def _namespace_open(self, state: ClusterState, kind: Kind, obj: Obj) -> None:
        name = obj["metadata"].get("namespace", "")
        entry = state.table("namespaces").entries.get(("", name))
        if entry is None:
            raise not_found("namespaces", "", name)
        if "deletionTimestamp" in entry.obj["metadata"] and kind.key != "events":
            why = f"unable to create new content in namespace {name} because it is being terminated"
            error = forbidden(kind.resource, kind.group, obj["metadata"]["name"], why)
            cause = {
                "reason": "NamespaceTerminating",
                "message": f"namespace {name} is being terminated",
                "field": "metadata.namespace",
            }
            error.details = {**(error.details or {}), "causes": [cause]}
            raise error

    @staticmethod
    def _refuse_when_ending(kind: Kind, obj: Obj) -> None:
        if kind.custom is not None and kind.custom.terminating:
            why = "create not allowed while custom resource definition is terminating"
            raise forbidden(kind.resource, kind.group, obj["metadata"]["name"], why)

    def _check(self, kind: Kind, obj: Obj, old: Obj | None, subresource: str = "") -> None:
        causes: list[Cause] = validation.check(kind, obj, old, subresource)
        if causes:
            raise invalid(kind.kind, kind.group, obj["metadata"].get("name", ""), causes)

    def _establish(self, state: ClusterState, obj: Obj) -> None:
        done = custom.accepted(obj, self.now())
        done["metadata"] = dict(obj["metadata"])
        self.store.write(state, custom.DEFINITIONS, done, obj)

    def to_stored(self, state: ClusterState, kind: Kind, obj: Obj) -> Obj:
        """The object at the version in which it is kept."""
        if kind.custom is not None:
            return {**obj, "apiVersion": f"{kind.group}/{kind.custom.stored_version}"}
        if STORED_VERSION.get(kind.key, kind.version) == kind.version and kind.group != "events.k8s.io":
            return obj
        return admission.convert(kind, obj, self.kind_of(state, kind.key))

    def update(
        self,
        state: ClusterState,
        kind: Kind,
        new: Obj,
        old: Obj,
        *,
        subresource: str = "",
        trusted: bool = False,
        dry_run: bool = False,
    ) -> Obj:
        """Store a changed object in normal form; an unchanged one is answered as it is, without a new version."""
        given = new["metadata"].get("resourceVersion")
        if given not in (None, "", "0") and given != old["metadata"]["resourceVersion"]:
            raise conflict(kind.resource, kind.group, old["metadata"]["name"], STALE)
        new = strategy.before_update(kind, new, old, subresource)
        new["metadata"]["resourceVersion"] = old["metadata"]["resourceVersion"]
        if not trusted:
            self._check(kind, new, old, subresource)
        admission.on_update(self, state, kind, new, old, subresource)
        if self._ends(new):
            if not dry_run:
                self.store.remove(state, kind.key, old)
            return new
        if dry_run or _same(new, old):
            return new if dry_run else old
        self.store.write(state, kind.key, self.to_stored(state, kind, new), old)
        if kind.key == custom.DEFINITIONS and subresource != "status":
            self._establish_again(state, new)
        return new

    def _establish_again(self, state: ClusterState, obj: Obj) -> None:
        done = custom.accepted(obj, self.now())
        if done["status"].get("acceptedNames") != (obj.get("status") or {}).get("acceptedNames") or done["status"].get(
            "storedVersions"
        ) != (obj.get("status") or {}).get("storedVersions"):
            done["status"]["conditions"] = obj["status"]["conditions"]
            done["metadata"] = dict(obj["metadata"])
            self.store.write(state, custom.DEFINITIONS, done, obj)

    @staticmethod
    def _ends(obj: Obj) -> bool:
        meta = obj["metadata"]
        if "deletionTimestamp" not in meta or meta.get("finalizers"):
            return False
        if (obj.get("spec") or {}).get("finalizers") and obj.get("kind") == "Namespace":
            return False
        return bool(meta.get("deletionGracePeriodSeconds", 0) == 0)

    # deleting

    def delete(self, state: ClusterState, kind: Kind, old: Obj, options: DeleteOptions | None = None) -> Obj:
        """Delete, or begin to; answers the object, or a Status when nothing is left to show."""
        options = options or DeleteOptions()
        self._preconditions(kind, old, options)
        grace = admission.grace(kind, old, options.grace)
        finalizers = self._finalizers(kind, old, options)
        meta = dict(old["metadata"])
        status = success(
            {
                k: v
                for k, v in {
                    "name": meta["name"],
                    "group": kind.group,
                    "kind": kind.resource,
                    "uid": meta["uid"],
                }.items()
                if v
            }
        )
        pending = bool(finalizers) or grace > 0 or kind.key == "namespaces"
        if "deletionTimestamp" in meta and not self._shortens(meta, grace) and finalizers == meta.get("finalizers", []):
            return old if pending else self._gone(state, kind, old, options, status)
        gone = self._marked(kind, old, grace, finalizers)
        if options.dry_run:
            return gone if pending else status
        if not pending:
            shown = gone if kind.key in admission.GRACEFUL else old
            return self._gone(state, kind, shown, options, status)
        self.store.write(state, kind.key, gone, old)
        return gone

    def _gone(self, state: ClusterState, kind: Kind, obj: Obj, options: DeleteOptions, status: Obj) -> Obj:
        if not options.dry_run:
            last = self.store.remove(state, kind.key, obj)
            if kind.key in admission.SHOWN_WHEN_GONE:
                return last
        return status

    @staticmethod
    def _shortens(meta: Obj, grace: int) -> bool:
        return bool(grace < meta.get("deletionGracePeriodSeconds", 0))

    def _marked(self, kind: Kind, old: Obj, grace: int, finalizers: list[str]) -> Obj:
        meta = dict(old["metadata"])
        first = "deletionTimestamp" not in meta
        if first:
            due = self.world.clock.time() + grace
            meta["deletionTimestamp"] = admission.stamp(due)
            if meta.get("generation") and kind.key != custom.DEFINITIONS:
                meta["generation"] += 1
        if kind.key not in ("namespaces", custom.DEFINITIONS):
            meta["deletionGracePeriodSeconds"] = grace
        if finalizers:
            meta["finalizers"] = finalizers
        else:
            meta.pop("finalizers", None)
        gone = {**old, "metadata": meta}
        if kind.key == "namespaces":
            gone["status"] = {**(old.get("status") or {}), "phase": "Terminating"}
        elif kind.key == custom.DEFINITIONS and first:
            gone["status"] = custom.ending(old, self.now())
        return gone

    @staticmethod
    def _finalizers(kind: Kind, old: Obj, options: DeleteOptions) -> list[str]:
        kept = [f for f in old["metadata"].get("finalizers") or [] if f not in ("foregroundDeletion", "orphan")]
        former = [f for f in old["metadata"].get("finalizers") or [] if f in ("foregroundDeletion", "orphan")]
        if options.propagation == "Foreground":
            return [*kept, "foregroundDeletion"]
        if options.propagation == "Orphan":
            return [*kept, "orphan"]
        if kind.key == custom.DEFINITIONS and not former:
            return kept if admission.CLEANUP in kept else [*kept, admission.CLEANUP]
        if options.propagation == "Background":
            return kept
        return list(old["metadata"].get("finalizers") or [])

    @staticmethod
    def _preconditions(kind: Kind, old: Obj, options: DeleteOptions) -> None:
        meta = old["metadata"]
        for label, given, actual in (
            ("UID", options.uid, meta["uid"]),
            ("ResourceVersion", options.version, meta["resourceVersion"]),
        ):
            if given and given != actual:
                tail = (
                    "The object might have been deleted and then recreated"
                    if label == "UID"
                    else ("The object might have been modified")
                )
                why = (
                    f"the {label} in the precondition ({given}) does not match the {label} in record ({actual}). {tail}"
                )
                raise conflict(kind.kind, "", meta["name"], why)


def _same(new: Obj, old: Obj) -> bool:
    if new == old:
        return True
    if any(new.get(k) != old.get(k) for k in {*new, *old} - {"metadata"}):
        return False
    one, two = dict(new["metadata"]), dict(old["metadata"])
    mine, theirs = one.pop("managedFields", None), two.pop("managedFields", None)
    return one == two and _without_times(mine) == _without_times(theirs)


def _without_times(entries: Any) -> Any:
    return [{k: v for k, v in e.items() if k != "time"} for e in entries or []]


__all__ = ["DeleteOptions", "Engine", "key_of"]
