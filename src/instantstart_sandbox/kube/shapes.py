"""How values merge, for built-in types and custom schemas: structs, maps, lists that are sets, maps or one value."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import orjson

from instantstart_sandbox.kube.catalog import Kind
from instantstart_sandbox.kube.types import Field, TypeRef, embedded_kinds, parse_ref, struct

Obj = dict[str, Any]


@dataclass(frozen=True)
class Shape:
    """`kind` is struct, map, list, leaf or any (deduced from the value). `atomic` values are owned as a whole."""

    kind: str
    atomic: bool = False
    keys: tuple[str, ...] = ()
    is_set: bool = False
    source: Any = None
    defaults: tuple[tuple[str, Any], ...] = ()

    def child(self, name: str) -> Shape | None:
        """Shape of a field; None when the schema does not declare it."""
        if self.kind == "any":
            return ANY
        if self.kind == "map":
            return _elem(self.source)
        return _field_shape(self.source, name)

    def elem(self) -> Shape:
        """Shape of a list's elements."""
        if self.kind == "any":
            return ANY
        return _elem(self.source)

    @property
    def declared(self) -> frozenset[str]:
        """Names of a struct's declared fields."""
        if self.kind != "struct":
            return frozenset()
        if isinstance(self.source, str):
            return frozenset(struct(self.source).fields)
        return frozenset(self.source.get("properties") or ())


ANY = Shape("any")
LEAF = Shape("leaf")
_SCALARS = {"string": "string", "bool": "boolean", "int32": "numeric", "int64": "numeric", "float64": "numeric",
            "Time": "string", "MicroTime": "string", "bytes": "string"}  # fmt: skip
_OPEN = ("Raw", "Fields", "JSON", "SchemaOrBool", "SchemaOrArray", "SchemaOrStrings")


def _key_defaults(elem: TypeRef | None, keys: tuple[str, ...]) -> tuple[tuple[str, Any], ...]:
    if elem is None or elem.shape != "struct":
        return ()
    fields = struct(elem.struct).fields
    known: Obj = {"protocol": "TCP"}
    for name in keys:
        if name in fields and not fields[name].omit_empty:
            known[name] = 0 if fields[name].type.shape.startswith("int") else known.get(name, "")
    return tuple((k, fields[k].default if fields[k].default is not None else known[k]) for k in keys
                 if k in fields and (fields[k].default is not None or k in known))  # fmt: skip


@lru_cache(maxsize=8192)
def _typed(ref: TypeRef, item: Field | None) -> Shape:
    if ref.shape == "struct":
        return Shape("struct", atomic=bool(item and item.atomic), source=ref.struct)
    if ref.shape == "map":
        return Shape("map", atomic=bool(item and item.atomic), source=ref.elem)
    if ref.shape == "list":
        if item is not None and item.list_type == "map":
            return Shape("list", False, item.map_keys, source=ref.elem, defaults=_key_defaults(ref.elem, item.map_keys))
        is_set = item is not None and item.list_type == "set"
        return Shape("list", not is_set, (), is_set, ref.elem)
    if ref.shape in _OPEN:
        return Shape("any", atomic=True)
    return Shape("leaf", source=_SCALARS.get(ref.shape))


def _schema(node: Obj) -> Shape:
    if node.get("x-kubernetes-int-or-string"):
        return LEAF
    kind = node.get("type")
    if kind == "array":
        which = node.get("x-kubernetes-list-type", "atomic")
        items = node.get("items") or {}
        if which == "map":
            keys = tuple(node.get("x-kubernetes-list-map-keys") or ())
            given = tuple(
                (k, p["default"]) for k, p in (items.get("properties") or {}).items() if k in keys and "default" in p
            )
            return Shape("list", False, keys, source=items, defaults=given)
        return Shape("list", which != "set", (), which == "set", items)
    atomic = node.get("x-kubernetes-map-type") == "atomic"
    if node.get("properties") is not None:
        return Shape("struct", atomic, source=node)
    if isinstance(node.get("additionalProperties"), dict):
        return Shape("map", atomic, source=node["additionalProperties"])
    if kind == "object" or kind is None or node.get("x-kubernetes-preserve-unknown-fields"):
        return Shape("any", atomic)
    words = {"integer": "numeric", "number": "numeric"}
    return Shape("leaf", source=words.get(str(kind), kind))


def _elem(source: Any) -> Shape:
    return _typed(source, None) if isinstance(source, TypeRef) else _schema(source)


def _field_shape(source: Any, name: str) -> Shape | None:
    if isinstance(source, str):
        item = struct(source).fields.get(name)
        if item is None and name in ("apiVersion", "kind") and source in embedded_kinds():
            return LEAF
        return _typed(item.type, item) if item is not None else None
    node = (source.get("properties") or {}).get(name)
    if node is not None:
        if node.get("__meta__"):
            return Shape("struct", source="meta/v1.ObjectMeta")
        return _schema(node)
    if source.get("x-kubernetes-preserve-unknown-fields"):
        return ANY
    return None


def of(kind: Kind) -> Shape:
    """The shape of whole objects of a kind."""
    if kind.struct is not None:
        return Shape("struct", source=kind.struct.name)
    schema = kind.custom.schema
    properties = {
        **(schema.get("properties") or {}),
        "metadata": {"__meta__": True},
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
    }
    return Shape("struct", source={**schema, "properties": properties})


def of_struct(name: str) -> Shape:
    """The shape of a built-in struct."""
    return _typed(parse_ref(name), None)


def dumps(value: Any) -> str:
    """Compact JSON with sorted keys, as path elements are written."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
