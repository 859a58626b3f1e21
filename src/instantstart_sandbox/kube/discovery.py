"""Discovery documents: groups, versions and resources, plain and aggregated, and the version of the server."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

import orjson

from instantstart_sandbox.kube.catalog import STORED_VERSION, Kind, builtin, groups
from instantstart_sandbox.kube.custom import version_order
from instantstart_sandbox.kube.engine import Engine
from instantstart_sandbox.kube.status import ApiError, no_such_resource
from instantstart_sandbox.kube.store import ClusterState
from instantstart_sandbox.kube.wire import Request, Response, answer, text

Obj = dict[str, Any]
_AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


def _groups(engine: Engine, state: ClusterState) -> dict[str, dict[str, list[Kind]]]:
    """Group to version to kinds, built-in groups first, versions by priority."""
    found: dict[str, dict[str, list[Kind]]] = {}
    for group in groups():
        found[group["group"]] = {v["version"]: [] for v in group["versions"]}
    for kind in builtin().values():
        found[kind.group][kind.version].append(kind)
    customs = sorted(
        engine.customs(state).kinds.values(), key=lambda k: (k.group, version_order(k.version), k.resource)
    )
    for kind in customs:
        found.setdefault(kind.group, {}).setdefault(kind.version, []).append(kind)
    return found


def _verbs(kind: Kind) -> list[str]:
    if kind.custom is not None:
        return ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"]
    return list(kind.verbs)


def aggregated(engine: Engine, state: ClusterState, core: bool) -> Obj:
    """The APIGroupDiscoveryList of the core group, or of all others."""
    items = []
    for name, versions in _groups(engine, state).items():
        if (name == "") != core:
            continue
        listed = [
            {"version": version, "resources": [_discovered(k) for k in kinds], "freshness": "Current"}
            for version, kinds in versions.items()
        ]
        items.append({"metadata": {"name": name} if name else {}, "versions": listed})
    return {"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items}


def _discovered(kind: Kind) -> Obj:
    own = {"group": kind.group, "version": kind.version} if kind.custom is not None else {"group": "", "version": ""}
    out: Obj = {
        "resource": kind.resource,
        "responseKind": {**own, "kind": kind.kind},
        "scope": "Namespaced" if kind.namespaced else "Cluster",
        "singularResource": kind.singular,
        "verbs": _verbs(kind),
    }
    if kind.short:
        out["shortNames"] = list(kind.short)
    if kind.categories:
        out["categories"] = list(kind.categories)
    subs = []
    for sub in kind.subresources.values():
        foreign = (sub.group, sub.version) != (kind.group, kind.version)
        place = {"group": sub.group, "version": sub.version} if foreign or kind.custom else {"group": "", "version": ""}
        subs.append({"subresource": sub.name, "responseKind": {**place, "kind": sub.kind}, "verbs": list(sub.verbs)})
    if subs:
        out["subresources"] = subs
    return out


def resources(kinds: list[Kind], group_version: str) -> Obj:
    """The APIResourceList of one group and version."""
    listed: list[Obj] = []
    for kind in kinds:
        entry: Obj = {
            "name": kind.resource,
            "singularName": kind.singular,
            "namespaced": kind.namespaced,
            "kind": kind.kind,
            "verbs": _verbs(kind),
        }
        if kind.short:
            entry["shortNames"] = list(kind.short)
        if kind.categories:
            entry["categories"] = list(kind.categories)
        if "create" in kind.verbs and "get" in kind.verbs:
            entry["storageVersionHash"] = _hash(kind)
        listed.append(entry)
        listed.extend(_listed_sub(kind, sub) for sub in kind.subresources.values())
    out: Obj = {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group_version, "resources": listed}
    if group_version == "v1":
        del out["apiVersion"]
    return out


def _listed_sub(kind: Kind, sub: Any) -> Obj:
    entry: Obj = {"name": f"{kind.resource}/{sub.name}", "singularName": "", "namespaced": kind.namespaced}
    if (sub.group, sub.version) != (kind.group, kind.version):
        entry.update(group=sub.group, version=sub.version)
    return {**entry, "kind": sub.kind, "verbs": list(sub.verbs)}


def _hash(kind: Kind) -> str:
    digest = hashlib.sha256(f"{kind.group}/{_stored(kind)}/{kind.kind}".encode()).digest()
    return base64.b64encode(digest[:8]).decode()


def _stored(kind: Kind) -> str:
    return str(kind.custom.stored_version) if kind.custom is not None else STORED_VERSION.get(kind.key, kind.version)


def _group(name: str, versions: list[str]) -> Obj:
    listed = [{"groupVersion": f"{name}/{v}", "version": v} for v in versions]
    return {"name": name, "versions": listed, "preferredVersion": listed[0]}


def version(state: ClusterState) -> Obj:
    """`/version` with every field that clients check."""
    major, _, minor = str(state.doc["version"]).partition(".")
    return {
        "major": major,
        "minor": minor,
        "emulationMajor": major,
        "emulationMinor": minor,
        "minCompatibilityMajor": major,
        "minCompatibilityMinor": str(int(minor) - 1),
        "gitVersion": state.doc.get("git_version") or f"v{major}.{minor}.2-eks-3025e55",
        "gitCommit": "8cc511e399b929453cd98ae65b419c3cc227ec79",
        "gitTreeState": "clean",
        "buildDate": "2026-08-12T04:35:05Z",
        "goVersion": "go1.24.9",
        "compiler": "gc",
        "platform": "linux/amd64",
    }


def serve(engine: Engine, state: ClusterState, request: Request) -> Response | None:
    """The answer to a discovery path; None when the path is something else."""
    parts = [p for p in request.path.split("/") if p]
    if parts[:1] == ["version"]:
        return answer(version(state))
    if parts[:1] in (["healthz"], ["livez"], ["readyz"]):
        return text("ok")
    if parts not in (["api"], ["apis"]) and not (
        (parts[:1] == ["api"] and len(parts) == 2) or (parts[:1] == ["apis"] and len(parts) in (2, 3))
    ):
        return None
    found = _groups(engine, state)
    if len(parts) == 1:
        return _index(engine, state, request, parts[0], found)
    if parts[0] == "api":
        if parts[1] != "v1":
            raise no_such_resource()
        return answer(resources(found[""]["v1"], "v1"))
    return _grouped(parts, found)


def _grouped(parts: list[str], found: dict[str, dict[str, list[Kind]]]) -> Response:
    group = found.get(parts[1])
    if group is None or not parts[1]:
        return text("404 page not found\n", 404)
    if len(parts) == 2:
        return answer({"kind": "APIGroup", "apiVersion": "v1", **_group(parts[1], list(group))})
    if parts[2] not in group:
        if any(g["group"] == parts[1] for g in groups()):
            raise no_such_resource()
        return text("404 page not found\n", 404)
    return answer(resources(group[parts[2]], f"{parts[1]}/{parts[2]}"))


def _index(
    engine: Engine, state: ClusterState, request: Request, root: str, found: dict[str, dict[str, list[Kind]]]
) -> Response:
    wanted = [part.strip() for part in request.accept.split(",")]
    for part in wanted:
        options = dict(p.partition("=")[::2] for p in part.split(";")[1:])
        if options.get("as") == "APIGroupDiscoveryList":
            if options.get("v") == "v2":
                body = orjson.dumps(aggregated(engine, state, root == "api")) + b"\n"
                return Response(200, body, _AGGREGATED)
            if len(wanted) == 1:
                accepted = "application/json, application/yaml, application/vnd.kubernetes.protobuf"
                message = f"only the following media types are accepted: {accepted}"
                raise ApiError(406, "NotAcceptable", message)
    if root == "api":
        address = [{"clientCIDR": "0.0.0.0/0", "serverAddress": "10.255.255.1:26443"}]
        return answer({"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": address})
    listed = [_group(name, list(versions)) for name, versions in found.items() if name]
    return answer({"kind": "APIGroupList", "apiVersion": "v1", "groups": listed})
