"""OpenAPI documents made from the type data and custom schemas: enough for explain, apply, diff and validation."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import Any

import orjson

from instantstart_sandbox.kube.catalog import Kind
from instantstart_sandbox.kube.engine import Engine
from instantstart_sandbox.kube.store import ClusterState
from instantstart_sandbox.kube.types import Field, TypeRef, roots, struct
from instantstart_sandbox.kube.wire import Request, Response, answer

Obj = dict[str, Any]
_SCALARS: dict[str, Obj] = {
    "string": {"type": "string"},
    "bool": {"type": "boolean"},
    "int32": {"type": "integer", "format": "int32"},
    "int64": {"type": "integer", "format": "int64"},
    "float64": {"type": "number", "format": "double"},
    "bytes": {"type": "string", "format": "byte"},
    "Time": {"type": "string", "format": "date-time"},
    "MicroTime": {"type": "string", "format": "date-time"},
    "Quantity": {"oneOf": [{"type": "string"}, {"type": "number"}]},
    "IntOrString": {"oneOf": [{"type": "integer"}, {"type": "string"}], "format": "int-or-string"},
}
_PACKAGES = {"meta": "io.k8s.apimachinery.pkg.apis.meta",
             "apiextensions": "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions",
             "apiregistration": "io.k8s.kube-aggregator.pkg.apis.apiregistration"}  # fmt: skip
_QUERY = ("dryRun", "fieldManager", "fieldValidation", "force", "pretty")


def definition_name(name: str) -> str:
    """`core/v1.Pod` as OpenAPI names it."""
    package, _, rest = name.partition("/")
    return f"{_PACKAGES.get(package, 'io.k8s.api.' + package)}.{rest}"


def _schema(ref: TypeRef, prefix: str) -> Obj:
    if ref.shape == "struct":
        return {"$ref": prefix + definition_name(ref.struct)}
    if ref.shape == "list" and ref.elem is not None:
        return {"type": "array", "items": _boxed(ref.elem, prefix)}
    if ref.shape == "map" and ref.elem is not None:
        return {"type": "object", "additionalProperties": _boxed(ref.elem, prefix)}
    return dict(_SCALARS.get(ref.shape, {"type": "object"}))


def _boxed(ref: TypeRef, prefix: str) -> Obj:
    found = _schema(ref, prefix)
    if "$ref" in found:
        return {"allOf": [found], "default": {}} if "components" in prefix else found
    return {**found, "default": ""} if ref.shape == "string" and "components" in prefix else found


def _property(item: Field, prefix: str) -> Obj:
    out = _schema(item.type, prefix)
    if "$ref" in out and "components" in prefix:
        out = {"allOf": [out]}
        if not item.type.pointer:
            out["default"] = {}
    if item.list_type:
        out["x-kubernetes-list-type"] = item.list_type
    if item.map_keys:
        out["x-kubernetes-list-map-keys"] = list(item.map_keys)
    if item.merge_key:
        out["x-kubernetes-patch-merge-key"] = item.merge_key
    if item.strategy:
        out["x-kubernetes-patch-strategy"] = item.strategy
    if item.atomic and "$ref" not in out:
        out["x-kubernetes-map-type"] = "atomic"
    return out


def _definition(name: str, prefix: str) -> Obj:
    fields = struct(name).fields
    properties: Obj = {}
    found = [tuple(k.split("/")) for k, v in roots().items() if v == name]
    if found:
        properties["apiVersion"] = properties["kind"] = {"type": "string"}
    properties.update({n: _property(f, prefix) for n, f in fields.items()})
    out: Obj = {"type": "object", "properties": properties}
    required = [n for n, f in fields.items() if f.required]
    if required:
        out["required"] = required
    if found:
        out["x-kubernetes-group-version-kind"] = [{"group": g, "version": v, "kind": k} for g, v, k in found]
    return out


def _reach(name: str, seen: set[str]) -> None:
    if name in seen:
        return
    seen.add(name)
    for item in struct(name).fields.values():
        ref: TypeRef | None = item.type
        while ref is not None and ref.elem is not None:
            ref = ref.elem
        if ref is not None and ref.shape == "struct":
            _reach(ref.struct, seen)


def _operation(kind: Kind, verb: str) -> Obj:
    query = [{"name": q, "in": "query", "schema": {"type": "string", "uniqueItems": True}} for q in _QUERY]
    gvk = {"group": kind.group, "version": kind.version, "kind": kind.kind}
    out: Obj = {
        "operationId": f"{verb}{kind.group.title().replace('.', '')}{kind.version.title()}{kind.kind}",
        "parameters": query,
        "responses": {"200": {"description": "OK"}},
        "x-kubernetes-action": verb,
        "x-kubernetes-group-version-kind": gvk,
    }
    if verb in ("patch", "post", "put"):
        types = (
            ("application/json", "application/apply-patch+yaml", "application/merge-patch+json")
            if verb == "patch"
            else ("application/json",)
        )
        out["requestBody"] = {"content": {t: {"schema": {"type": "object"}} for t in types}}
    return out


def _paths(kinds: list[Kind]) -> Obj:
    found: Obj = {}
    for kind in kinds:
        root = f"/apis/{kind.api_version}" if kind.group else f"/api/{kind.version}"
        base = f"{root}/namespaces/{{namespace}}/{kind.resource}" if kind.namespaced else f"{root}/{kind.resource}"
        found[base] = {m: _operation(kind, m) for m in ("get", "post") if m == "get" or "create" in kind.verbs}
        if "get" in kind.verbs:
            found[base + "/{name}"] = {m: _operation(kind, m) for m in ("get", "put", "patch", "delete")}
    return found


def custom_schema(kind: Kind, meta_ref: str) -> Obj:
    """A custom kind's schema with the fields that every object has."""
    schema = kind.custom.schema
    gvk = {"group": kind.group, "version": kind.version, "kind": kind.kind}
    properties = {
        **(schema.get("properties") or {}),
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        "metadata": {"allOf": [{"$ref": meta_ref}]} if "components" in meta_ref else {"$ref": meta_ref},
    }
    return {**schema, "type": "object", "properties": properties, "x-kubernetes-group-version-kind": [gvk]}


def _custom_name(kind: Kind) -> str:
    return ".".join(reversed(kind.group.split("."))) + f".{kind.version}.{kind.kind}"


def _kinds(engine: Engine, state: ClusterState, group: str, version: str) -> list[Kind]:
    return [k for k in engine.all_kinds(state) if (k.group, k.version) == (group, version)]


@lru_cache(maxsize=64)
def _builtin_schemas(names: tuple[str, ...], prefix: str) -> bytes:
    seen: set[str] = set()
    for name in names:
        _reach(name, seen)
    return orjson.dumps({definition_name(n): _definition(n, prefix) for n in sorted(seen)})


def document(engine: Engine, state: ClusterState, group: str, version: str) -> Obj | None:
    """The OpenAPI v3 document of one group and version; None when there is none."""
    kinds = _kinds(engine, state, group, version)
    if not kinds:
        return None
    prefix = "#/components/schemas/"
    names = tuple(sorted({v for k, v in roots().items() if k.startswith(f"{group}/{version}/")}))
    schemas: Obj = orjson.loads(_builtin_schemas((*names, "meta/v1.ObjectMeta", "meta/v1.DeleteOptions"), prefix))
    for kind in kinds:
        if kind.custom is not None:
            schemas[_custom_name(kind)] = custom_schema(kind, prefix + definition_name("meta/v1.ObjectMeta"))
    info = {"title": "Kubernetes", "version": str(state.doc["version"])}
    return {"openapi": "3.0.0", "info": info, "paths": _paths(kinds), "components": {"schemas": schemas}}


def _swagger(engine: Engine, state: ClusterState) -> Obj:
    prefix = "#/definitions/"
    definitions: Obj = orjson.loads(_builtin_schemas(tuple(sorted(set(roots().values()))), prefix))
    for kind in engine.customs(state).kinds.values():
        definitions[_custom_name(kind)] = custom_schema(kind, prefix + definition_name("meta/v1.ObjectMeta"))
    info = {"title": "Kubernetes", "version": f"v{state.doc['version']}.2"}
    return {"swagger": "2.0", "info": info, "paths": {}, "definitions": definitions}


def serve(engine: Engine, state: ClusterState, request: Request) -> Response | None:
    """The answer to an OpenAPI path; None for other paths."""
    parts = [p for p in request.path.split("/") if p]
    if parts == ["openapi", "v2"]:
        return answer(_swagger(engine, state))
    if parts[:2] != ["openapi", "v3"]:
        return None
    if len(parts) == 2:
        places: Obj = {}
        for kind in engine.all_kinds(state):
            key = f"apis/{kind.api_version}" if kind.group else f"api/{kind.version}"
            digest = hashlib.sha256(f"{key}{_stamp(engine, state, kind.group)}".encode()).hexdigest()[:32].upper()
            places[key] = {"serverRelativeURL": f"{_base(state)}/openapi/v3/{key}?hash={digest}"}
        return Response(200, orjson.dumps({"paths": places}) + b"\n", "text/plain; charset=utf-8")
    group, version = ("", parts[3]) if parts[2] == "api" and len(parts) == 4 else ("", "")
    if parts[2] == "apis" and len(parts) == 5:
        group, version = parts[3], parts[4]
    found = document(engine, state, group, version) if version else None
    return answer(found) if found is not None else Response(404, b"", "")


def _base(state: ClusterState) -> str:
    return f"/k8s/{state.name}"


def _stamp(engine: Engine, state: ClusterState, group: str) -> str:
    return "".join(
        k.custom.definition["metadata"]["resourceVersion"]
        for k in engine.customs(state).kinds.values()
        if k.group == group
    )
