"""managedFields: who set which field, kept up to date by updates, and decided upon by server-side apply."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import orjson

from instantstart_sandbox.kube import fieldsets
from instantstart_sandbox.kube.fieldsets import Path, Paths
from instantstart_sandbox.kube.shapes import Shape
from instantstart_sandbox.kube.status import ApiError

Obj = dict[str, Any]
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_META = ("name", "namespace", "creationTimestamp", "selfLink", "uid", "clusterName", "generation", "managedFields",
         "resourceVersion")  # fmt: skip
IGNORED: frozenset[Path] = frozenset(
    {("f:apiVersion",), ("f:kind",), ("f:metadata",), *(("f:metadata", "f:" + n) for n in _META)}
)


@dataclass
class Owner:
    """One manager's fields. `key` tells managers apart: name, operation, version, subresource."""

    name: str
    operation: str
    version: str
    subresource: str
    paths: Paths = field(default_factory=set)
    time: str | None = None

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What tells managers apart; an applier is one whatever its version."""
        return self.name, self.operation, "" if self.operation == "Apply" else self.version, self.subresource

    def entry(self) -> Obj:
        """The managedFields entry."""
        out: Obj = {"manager": self.name, "operation": self.operation, "apiVersion": self.version}
        if not self.name:
            del out["manager"]
        if self.time:
            out["time"] = self.time
        out.update(fieldsType="FieldsV1", fieldsV1=fieldsets.encode(self.paths))
        if self.subresource:
            out["subresource"] = self.subresource
        return out


def read(entries: list[Obj] | None) -> list[Owner]:
    """Owners from managedFields; malformed entries are left out."""
    found = []
    for entry in entries or []:
        if entry.get("operation") not in ("Apply", "Update") or entry.get("fieldsType") != "FieldsV1":
            continue
        found.append(
            Owner(
                entry.get("manager", ""),
                entry["operation"],
                entry.get("apiVersion", ""),
                entry.get("subresource", ""),
                fieldsets.decode(entry.get("fieldsV1")),
                entry.get("time"),
            )
        )
    return found


def write(owners: list[Owner]) -> list[Obj]:
    """managedFields in the server's order: appliers first, then by time and name."""
    kept = [o for o in owners if o.paths]
    kept.sort(key=lambda o: (o.operation, o.time or "", o.name, o.version, o.subresource))
    return [o.entry() for o in kept]


def _bare(obj: Obj) -> Obj:
    meta = {k: v for k, v in obj.get("metadata", {}).items() if k not in _META}
    return {**{k: v for k, v in obj.items() if k not in ("apiVersion", "kind")}, "metadata": meta}


def _ignored(paths: Paths, reset: tuple[str, ...]) -> Paths:
    tops = {"f:" + r for r in reset}
    return {p for p in paths if p not in IGNORED and p and p[0] not in tops}


@dataclass(frozen=True)
class Writer:
    """Who writes, where: manager name, version, subresource, and the top fields that this way of writing resets."""

    name: str
    version: str
    subresource: str = ""
    reset: tuple[str, ...] = ()


def on_update(shape: Shape, live: Obj, new: Obj, entries: list[Obj] | None, who: Writer, now: str) -> list[Obj]:
    """managedFields after an ordinary write of `new` over `live` (the empty object for a create)."""
    owners = read(entries)
    found = fieldsets.compare(shape, _bare(live), _bare(new))
    if found.same:
        return write(owners)
    changed = found.modified | found.added
    mine = Owner(who.name, "Update", who.version, who.subresource)
    for owner in owners:
        if owner.key == mine.key:
            owner.paths -= found.removed
        else:
            owner.paths -= changed | found.removed
    taken = _ignored(changed, who.reset)
    if taken:
        own = next((o for o in owners if o.key == mine.key), None)
        if own is None:
            owners.append(mine)
            own = mine
        own.paths |= taken
        own.time = now
    return write(owners)


def _conflict(found: list[tuple[Owner, Paths]]) -> ApiError:
    causes: list[Obj] = []
    texts: list[str] = []
    for owner, paths in sorted(found, key=lambda f: f[0].key):
        name = f'conflict with "{owner.name}"'
        if owner.subresource:
            name += f' with subresource "{owner.subresource}"'
        if owner.operation == "Update":
            name += f" using {owner.version}"
        shown = sorted(fieldsets.shown_path(p) for p in paths)
        causes.extend({"reason": "FieldManagerConflict", "message": name, "field": s} for s in shown)
        texts.append(f"{name}: {shown[0]}" if len(shown) == 1 else f"{name}:\n" + "\n".join(f"- {s}" for s in shown))
    count = len(causes)
    head = f"Apply failed with {count} conflict{'s' if count != 1 else ''}: "
    message = head + texts[0] if len(texts) == 1 else head.rstrip(" ").rstrip(":") + ": " + "\n".join(texts)
    return ApiError(409, "Conflict", message, {"causes": causes})


def _prune(shape: Shape, merged: Obj, owners: list[Owner], last: Paths) -> Obj:
    """Take out what the manager applied before and nobody owns now."""
    if not last:
        return merged
    pruned = fieldsets.remove(shape, merged, fieldsets.with_named(shape, last))
    in_merged, in_pruned = fieldsets.contents(shape, merged), fieldsets.contents(shape, pruned)
    owned: Paths = set()
    for owner in owners:
        owned |= owner.paths
    keep = fieldsets.with_named(shape, in_pruned) | fieldsets.with_named(shape, owned)
    pruned = fieldsets.remove(shape, merged, fieldsets.with_named(shape, in_merged) - keep)
    in_pruned = fieldsets.contents(shape, pruned)
    named = fieldsets.with_named(shape, in_merged) - fieldsets.with_named(shape, in_pruned)
    result: Obj = fieldsets.remove(shape, merged, named & fieldsets.with_named(shape, last))
    return result


def _last_applied(shape: Shape, live: Obj) -> Paths:
    """Fields that client-side `kubectl apply` set and that are still so: its server-side form may take them."""
    note = (live.get("metadata", {}).get("annotations") or {}).get(LAST_APPLIED)
    if not note:
        return set()
    try:
        applied = _bare(orjson.loads(note))
    except orjson.JSONDecodeError:
        return set()
    found = fieldsets.compare(shape, applied, live)
    return fieldsets.contents(shape, applied) - found.modified - found.added - found.removed


def note_applied(config: Obj, merged: Obj) -> None:
    """Keep kubectl's note of what was applied last in step with a server-side apply by kubectl; in place."""
    notes = merged.get("metadata", {}).get("annotations") or {}
    if LAST_APPLIED not in notes:
        return
    meta = {k: v for k, v in config["metadata"].items() if k != "managedFields"}
    own = {k: v for k, v in (meta.pop("annotations", None) or {}).items() if k != LAST_APPLIED}
    if own:
        meta["annotations"] = own
    text = orjson.dumps({**config, "metadata": meta}, option=orjson.OPT_SORT_KEYS).decode() + "\n"
    merged["metadata"] = {**merged["metadata"], "annotations": {**notes, LAST_APPLIED: text}}


def apply(
    shape: Shape,
    live: Obj,
    config: Obj,
    entries: list[Obj] | None,
    who: Writer,
    now: str,
    *,
    force: bool,
    before: str = "",
) -> tuple[Obj, list[Obj]]:
    """The live object with an applied configuration laid over it, and managedFields; ApiError 409 on conflicts.

    `before`: version to note for fields of an object that had no managedFields yet.
    """
    owners = read(entries)
    bare_live, bare_config = _bare(live), _bare(config)
    if not owners and before:
        empty: Obj = {}
        all_paths = fieldsets.compare(shape, empty, bare_live).added
        owners.append(Owner("before-first-apply", "Update", before, "", _ignored(all_paths, who.reset), now))
    mine = Owner(who.name, "Apply", who.version, who.subresource)
    former = next((o for o in owners if o.key == mine.key), None)
    last = set(former.paths) if former else set()
    mine.time = former.time if former else None
    mine.paths = _ignored(fieldsets.contents(shape, bare_config), who.reset)
    others = [o for o in owners if o.key != mine.key]
    merged = fieldsets.merge(shape, bare_live, bare_config)
    merged = _prune(shape, merged, [*others, mine], last)
    found = fieldsets.compare(shape, bare_live, merged)
    changed = found.modified | found.added
    clashes = [(o, o.paths & changed) for o in others if o.paths & changed]
    if who.name == "kubectl" and not who.subresource:
        allowed = _last_applied(shape, bare_live)
        clashes = [(o, paths - allowed) for o, paths in clashes if paths - allowed]
    if clashes and not force:
        raise _conflict(clashes)
    for owner in others:
        owner.paths -= changed | found.removed
    if not found.same:
        mine.time = now
    merged["metadata"] = {**{k: v for k, v in live["metadata"].items() if k in _META}, **merged.get("metadata", {})}
    return merged, write([*others, mine])
