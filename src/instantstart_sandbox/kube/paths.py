"""Paths of the API: which group, version, resource, name and subresource, and which verb the request stands for."""

from __future__ import annotations

from dataclasses import dataclass

from instantstart_sandbox.kube.wire import Request


@dataclass(frozen=True)
class Target:
    """What a path names. `name` and `subresource` are empty for a collection."""

    group: str
    version: str
    resource: str
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    rest: str = ""
    """What follows a proxy subresource."""


def parse(path: str) -> Target | None:
    """The target of a resource path; None for discovery and everything else."""
    parts = [p for p in path.split("/") if p]
    if parts[:1] == ["api"] and len(parts) >= 3:
        group, version, rest = "", parts[1], parts[2:]
    elif parts[:1] == ["apis"] and len(parts) >= 4:
        group, version, rest = parts[1], parts[2], parts[3:]
    else:
        return None
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 2 and not (rest[2] in ("status", "finalize") and len(rest) == 3):
        namespace, rest = rest[1], rest[2:]
    elif rest[0] == "namespaces" and len(rest) >= 2:
        namespace = rest[1]
    return Target(
        group,
        version,
        rest[0],
        namespace,
        rest[1] if len(rest) > 1 else "",
        rest[2] if len(rest) > 2 else "",
        "/".join(rest[3:]),
    )


def verb(request: Request, target: Target) -> str:
    """The authorisation verb."""
    if request.method in ("GET", "HEAD"):
        if request.flag("watch"):
            return "watch"
        return "get" if target.name else "list"
    if request.method == "DELETE":
        return "delete" if target.name else "deletecollection"
    return {"POST": "create", "PUT": "update", "PATCH": "patch"}.get(request.method, request.method.lower())
