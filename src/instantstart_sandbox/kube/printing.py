"""Shapes of answers: the object itself, its metadata only, or rows of a Table as `kubectl get` asks for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson

from instantstart_sandbox.kube import columns, listing
from instantstart_sandbox.kube.catalog import Kind
from instantstart_sandbox.kube.engine import Engine
from instantstart_sandbox.kube.listing import Page
from instantstart_sandbox.kube.status import ApiError, bad_request
from instantstart_sandbox.kube.store import Entry, Table, key_of
from instantstart_sandbox.kube.wire import Request, Response

Obj = dict[str, Any]
_ACCEPTED = "application/json, application/yaml, application/vnd.kubernetes.protobuf"


def wanted(request: Request) -> str:
    """'Table', 'PartialObjectMetadata', 'PartialObjectMetadataList' or '' for the object itself."""
    for part in request.accept.split(","):
        media, *options = [p.strip() for p in part.split(";")]
        chosen = dict(o.partition("=")[::2] for o in options)
        if media in ("application/json", "*/*", "application/*", "application/yaml"):
            if "as" in chosen:
                if chosen.get("g") == "meta.k8s.io" and chosen.get("v") == "v1":
                    return chosen["as"]
                continue
            return ""
        if media == "application/vnd.kubernetes.protobuf" and "as" not in chosen:
            continue
    if "json" in request.accept or "*" in request.accept:
        return ""
    if "protobuf" in request.accept or "yaml" in request.accept:
        return ""
    raise ApiError(406, "NotAcceptable", f"only the following media types are accepted: {_ACCEPTED}")


def _partial(kind: Kind, obj: Obj) -> Obj:
    return {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": obj["metadata"]}


def _include(request: Request) -> str:
    include = request.arg("includeObject") or "Metadata"
    if include not in ("None", "Metadata", "Object"):
        text = f"includeObject: Invalid value: \"{include}\": must be 'Metadata', 'Object', 'None', or empty"
        raise bad_request(f"Unable to convert to Table as requested: {text}")
    return include


def table(
    engine: Engine, request: Request, kind: Kind, objects: list[Obj], meta: Obj, with_columns: bool = True
) -> Obj:
    """A Table of objects."""
    include = _include(request)
    definitions, cells = columns.of(kind)
    now = engine.world.clock.time()
    rows = []
    for obj in objects:
        row: Obj = {"cells": cells(obj, now)}
        conditions = columns.conditions(kind, obj)
        if conditions:
            row["conditions"] = conditions
        if include == "Metadata":
            row["object"] = _partial(kind, obj)
        elif include == "Object":
            row["object"] = {**listing.converted(kind, obj), "kind": kind.kind, "apiVersion": kind.api_version}
        else:
            row["object"] = None
        rows.append(row)
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": meta,
        "columnDefinitions": definitions if with_columns else None,
        "rows": rows,
    }


def one(engine: Engine, request: Request, kind: Kind, obj: Obj, status: int = 200) -> Response:
    """The answer with one object."""
    shape = wanted(request)
    if shape == "Table":
        version = {"resourceVersion": obj["metadata"].get("resourceVersion", "")}
        return Response(status, orjson.dumps(table(engine, request, kind, [obj], version)) + b"\n")
    if shape == "PartialObjectMetadata":
        return Response(status, orjson.dumps(_partial(kind, obj)) + b"\n")
    return Response(status, listing.whole(kind, Entry(obj)) + b"\n")


def many(engine: Engine, request: Request, kind: Kind, found: Page) -> Response:
    """The answer with a list."""
    shape = wanted(request)
    if shape == "Table":
        body = table(engine, request, kind, [e.obj for e in found.entries], found.meta)
        return Response(200, orjson.dumps(body) + b"\n")
    if shape == "PartialObjectMetadataList":
        items = [_partial(kind, e.obj) for e in found.entries]
        listed = {"kind": shape, "apiVersion": "meta.k8s.io/v1", "metadata": found.meta, "items": items}
        return Response(200, orjson.dumps(listed) + b"\n")
    return Response(200, listing.encode(kind, found))


def event_shape(engine: Engine, request: Request, kind: Kind, source: Table) -> Callable[[Obj, bool], bytes]:
    """How a watch writes an object; the second argument tells whether it is the first one."""
    shape = wanted(request)
    if shape == "Table":

        def as_table(obj: Obj, first: bool) -> bytes:
            meta = {"resourceVersion": obj["metadata"]["resourceVersion"]}
            return orjson.dumps(table(engine, request, kind, [obj], meta, first))

        return as_table
    if shape.startswith("PartialObjectMetadata"):
        return lambda obj, _first: orjson.dumps(_partial(kind, obj))

    def plain(obj: Obj, _first: bool) -> bytes:
        entry = source.entries.get(key_of(obj))
        return listing.whole(kind, entry if entry is not None and entry.obj is obj else Entry(obj))

    return plain


def bookmark(kind: Kind, meta: Obj) -> Obj:
    """The object of a bookmark event."""
    body: Obj = {"kind": kind.kind, "apiVersion": kind.api_version, "metadata": meta}
    if kind.struct is not None:
        for name in ("spec", "status"):
            found = kind.struct.fields.get(name)
            if found is not None and found.type.shape == "struct" and not found.type.pointer:
                body[name] = columns.empty(found.type.struct)
    return body
