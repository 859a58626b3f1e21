"""Where kinds live in one cluster's API: group, version, plural, namespaced. Learnt by discovery, kept per cluster."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from instantstart.kube.errors import KUBE_NOT_FOUND, KubeProblem

Getter = Callable[[str], Awaitable[dict[str, Any]]]


@dataclass(frozen=True)
class Kind:
    """One resource of the API."""

    group_version: str
    plural: str
    kind: str
    namespaced: bool

    def path(self, namespace: str | None, name: str | None = None) -> str:
        """The URL path of a collection or an object."""
        base = "/api/v1" if self.group_version == "v1" else f"/apis/{self.group_version}"
        inside = f"/namespaces/{namespace}" if self.namespaced and namespace else ""
        return f"{base}{inside}/{self.plural}" + (f"/{name}" if name else "")


class Kinds:
    """Finds kinds by `plural.group` (`pods`, `jobs.batch`) or by the apiVersion and kind of an object."""

    def __init__(self, get: Getter) -> None:
        self._get = get
        self._known: dict[str, list[Kind]] = {}
        self._preferred: dict[str, str] = {}

    async def resource(self, resource: str) -> Kind:
        """The kind behind `plural.group`. Raises KubeProblem (`not_found`) when the cluster does not have it."""
        plural, _, group = resource.partition(".")
        group_version = await self._version_of(group) if group else "v1"
        for kind in await self._kinds(group_version):
            if kind.plural == plural:
                return kind
        raise self._missing(resource, group_version)

    async def of(self, obj: dict[str, Any]) -> Kind:
        """The kind of an object. Raises KubeProblem (`not_found`) when the cluster does not have it."""
        for kind in await self._kinds(obj["apiVersion"]):
            if kind.kind == obj["kind"]:
                return kind
        raise self._missing(f"{obj['apiVersion']} {obj['kind']}", obj["apiVersion"])

    async def _version_of(self, group: str) -> str:
        if group not in self._preferred:
            found = await self._get(f"/apis/{group}")
            self._preferred[group] = found["preferredVersion"]["groupVersion"]
        return self._preferred[group]

    async def _kinds(self, group_version: str) -> list[Kind]:
        if group_version not in self._known:
            path = "/api/v1" if group_version == "v1" else f"/apis/{group_version}"
            listed = (await self._get(path)).get("resources") or []
            self._known[group_version] = [
                Kind(group_version, r["name"], r["kind"], bool(r["namespaced"])) for r in listed if "/" not in r["name"]
            ]
        return self._known[group_version]

    def _missing(self, what: str, group_version: str) -> KubeProblem:
        self._known.pop(group_version, None)  # it may be added later
        return KubeProblem(KUBE_NOT_FOUND(f"The cluster has no kind {what}."), status=404, reason="NotFound")
