"""What a server serves: groups, versions and resources, from `data/catalog.json` and a cluster's custom definitions."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from typing import Any

import orjson

from instantstart_sandbox.kube.types import Struct, root

ALL_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


@dataclass(frozen=True, slots=True)
class Subresource:
    """A subresource with the kind that it takes and answers."""

    name: str
    kind: str
    verbs: tuple[str, ...]
    group: str = ""
    version: str = ""


@dataclass(frozen=True)
class Kind:
    """One resource at one version. `key` names its storage (`plural.group`), shared by all its versions."""

    group: str
    version: str
    resource: str
    kind: str
    singular: str
    namespaced: bool
    verbs: tuple[str, ...] = ALL_VERBS
    short: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    subresources: dict[str, Subresource] = field(default_factory=dict)
    struct: Struct | None = None
    custom: Any = None
    """The custom definition's version (crd.CustomVersion), None for built-in kinds."""

    @property
    def key(self) -> str:
        """`plural.group`, or `plural` for the core group."""
        if self.group == "events.k8s.io":
            return "events"
        return f"{self.resource}.{self.group}" if self.group else self.resource

    @property
    def api_version(self) -> str:
        """`group/version`, or `v1`."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def list_kind(self) -> str:
        """Kind of a list of them."""
        return str(self.custom.list_kind) if self.custom else self.kind + "List"


STORED_VERSION = {"horizontalpodautoscalers.autoscaling": "v2"}


def _kind(group: str, version: str, raw: dict[str, Any]) -> Kind:
    subs = {
        s["name"]: Subresource(
            s["name"], s["kind"], tuple(s["verbs"]), s.get("group", group), s.get("version", version)
        )
        for s in raw.get("subresources", ())
    }
    return Kind(
        group,
        version,
        raw["name"],
        raw["kind"],
        raw["singular"],
        bool(raw.get("namespaced")),
        tuple(raw.get("verbs", ALL_VERBS)),
        tuple(raw.get("short", ())),
        tuple(raw.get("categories", ())),
        subs,
        root(group, version, raw["kind"]),
    )


@lru_cache(maxsize=1)
def groups() -> list[dict[str, Any]]:
    """The built-in groups as data, in the order in which discovery lists them."""
    raw = files("instantstart_sandbox.kube").joinpath("data/catalog.json").read_bytes()
    loaded: list[dict[str, Any]] = orjson.loads(raw)
    return loaded


@lru_cache(maxsize=1)
def builtin() -> dict[tuple[str, str, str], Kind]:
    """(group, version, plural) to kind."""
    found: dict[tuple[str, str, str], Kind] = {}
    for group in groups():
        for version in group["versions"]:
            for raw in version["resources"]:
                kind = _kind(group["group"], version["version"], raw)
                found[(kind.group, kind.version, kind.resource)] = kind
    return found


@lru_cache(maxsize=1)
def stored() -> dict[str, Kind]:
    """Storage key to the kind at its stored version."""
    found: dict[str, Kind] = {}
    for kind in builtin().values():
        if kind.group == "events.k8s.io":
            continue
        if STORED_VERSION.get(kind.key, kind.version) == kind.version:
            found[kind.key] = kind
    return found
