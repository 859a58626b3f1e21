"""Resource quotas: refused on create when an object would take more than its namespace may have. LimitRanges."""

from __future__ import annotations

from typing import Any

from instantstart_sandbox.kube import quantity
from instantstart_sandbox.kube.catalog import Kind
from instantstart_sandbox.kube.status import forbidden
from instantstart_sandbox.kube.store import ClusterState

Obj = dict[str, Any]
_COUNTED = {
    "pods": "pods",
    "services": "services",
    "secrets": "secrets",
    "configmaps": "configmaps",
    "persistentvolumeclaims": "persistentvolumeclaims",
    "replicationcontrollers": "replicationcontrollers",
    "resourcequotas": "resourcequotas",
}

_DEMANDED = ("cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory")


def admit(state: ClusterState, kind: Kind, obj: Obj) -> None:
    """Apply limit ranges, then refuse (ApiError 403) what exceeds a quota."""
    namespace = obj["metadata"].get("namespace")
    if not namespace:
        return
    if kind.key == "pods":
        for entry in state.table("limitranges").scan(namespace):
            _limits(entry.obj, obj)
    for entry in state.table("resourcequotas").scan(namespace):
        _quota(state, entry.obj, kind, obj)


def _limits(limit_range: Obj, pod: Obj) -> None:
    for item in limit_range["spec"].get("limits") or []:
        if item.get("type") != "Container":
            continue
        for container in pod["spec"].get("containers") or []:
            resources = container.setdefault("resources", {})
            for name, value in (item.get("default") or {}).items():
                resources.setdefault("limits", {}).setdefault(name, value)
            for name, value in (item.get("defaultRequest") or {}).items():
                resources.setdefault("requests", {}).setdefault(name, value)


def usage(kind: Kind, obj: Obj) -> dict[str, str]:
    """What one object takes from a quota."""
    taken = {f"count/{kind.key}": "1"}
    if kind.key in _COUNTED:
        taken[_COUNTED[kind.key]] = "1"
    if kind.key == "pods":
        if (obj.get("status") or {}).get("phase") in ("Succeeded", "Failed"):
            return {f"count/{kind.key}": "1"}
        amounts: dict[str, list[str]] = {}
        for container in obj["spec"].get("containers") or []:
            resources = container.get("resources") or {}
            for name, value in (resources.get("requests") or {}).items():
                amounts.setdefault(f"requests.{name}", []).append(value)
                if name in ("cpu", "memory", "ephemeral-storage"):
                    amounts.setdefault(name, []).append(value)
            for name, value in (resources.get("limits") or {}).items():
                amounts.setdefault(f"limits.{name}", []).append(value)
        taken.update({k: quantity.add(v) for k, v in amounts.items()})
    if kind.key == "persistentvolumeclaims":
        wanted = ((obj["spec"].get("resources") or {}).get("requests") or {}).get("storage")
        if wanted:
            taken["requests.storage"] = wanted
    return taken


def used(state: ClusterState, namespace: str, name: str, kind_key: str, kind: Kind) -> str:
    """How much of a quota's resource the namespace's objects of a kind take."""
    parts = [usage(kind, e.obj).get(name, "0") for e in state.table(kind_key).scan(namespace)]
    return quantity.add(parts)


def _quota(state: ClusterState, quota: Obj, kind: Kind, obj: Obj) -> None:
    hard = quota["spec"].get("hard") or {}
    asked = usage(kind, obj)
    over: list[tuple[str, str, str, str]] = []
    missing: list[str] = []
    for name, limit in sorted(hard.items()):
        if kind.key == "pods" and name in _DEMANDED and name not in asked:
            missing.append(f"{name} for: {','.join(c['name'] for c in obj['spec']['containers'])}")
            continue
        if name not in asked:
            continue
        taken = used(state, obj["metadata"]["namespace"], name, kind.key, kind)
        if quantity.parse(taken) + quantity.parse(asked[name]) > quantity.parse(limit):
            over.append((name, asked[name], taken, limit))
    label = quota["metadata"]["name"]
    if missing:
        raise forbidden(
            kind.resource,
            kind.group,
            obj["metadata"]["name"],
            f"failed quota: {label}: must specify {'; '.join(missing)}",
        )
    if over:
        parts = [",".join(f"{o[0]}={o[i]}" for o in over) for i in (1, 2, 3)]
        why = f"exceeded quota: {label}, requested: {parts[0]}, used: {parts[1]}, limited: {parts[2]}"
        raise forbidden(kind.resource, kind.group, obj["metadata"]["name"], why)
