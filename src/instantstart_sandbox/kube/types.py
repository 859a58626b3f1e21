"""The built-in types as data: fields, wire numbers, merge keys, list kinds, read from `data/types.json.gz`.

A type reference is `*`, `[]`, `{}` prefixes around a scalar name or a struct name such as `core/v1.PodSpec`.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

import orjson


@dataclass(frozen=True, slots=True)
class TypeRef:
    """A Go-like type: `shape` is list, map, struct or a scalar name; `elem` is what a list or map holds."""

    shape: str
    pointer: bool = False
    elem: TypeRef | None = None
    struct: str = ""
    alias: str = ""

    @property
    def go(self) -> str:
        """The type's name as Go prints it in decoding errors."""
        if self.shape == "list" and self.elem:
            return "[]" + self.elem.go
        if self.shape == "map" and self.elem:
            return "map[string]" + self.elem.go
        if self.shape == "struct":
            return "v1." + self.struct.rpartition(".")[2]
        return self.alias or self.shape


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a struct, as JSON, protobuf, strategic merge and server-side apply see it."""

    name: str
    type: TypeRef
    owner: str
    omit_empty: bool
    omit_zero: bool
    number: int
    strategy: str
    merge_key: str
    list_type: str
    map_keys: tuple[str, ...]
    atomic: bool
    required: bool
    default: Any


@dataclass(frozen=True, slots=True)
class Struct:
    """A struct: `fields` by JSON name with embedded ones flattened, `own` as declared (for protobuf)."""

    name: str
    fields: dict[str, Field]
    own: dict[int, tuple[str, TypeRef]]
    """Protobuf number to (JSON name, type); an embedded struct has the JSON name ''."""

    @property
    def short(self) -> str:
        """The name without its package."""
        return self.name.rpartition(".")[2]


@lru_cache(maxsize=1)
def _data() -> dict[str, Any]:
    raw = files("instantstart_sandbox.kube").joinpath("data/types.json.gz").read_bytes()
    loaded: dict[str, Any] = orjson.loads(gzip.decompress(raw))
    return loaded


@lru_cache(maxsize=4096)
def parse_ref(text: str) -> TypeRef:
    """A type reference from its text."""
    if text.startswith("*"):
        inner = parse_ref(text[1:])
        return TypeRef(inner.shape, True, inner.elem, inner.struct, inner.alias)
    if text.startswith("[]"):
        return TypeRef("list", elem=parse_ref(text[2:]))
    if text.startswith("{}"):
        return TypeRef("map", elem=parse_ref(text[2:]))
    if "!" in text:
        base, _, alias = text.partition("!")
        return TypeRef(base, alias=alias)
    if "/" in text:
        return TypeRef("struct", struct=text)
    return TypeRef(text)


def _field(raw: dict[str, Any], owner: str) -> Field:
    return Field(
        name=raw["n"],
        type=parse_ref(raw["t"]),
        owner=owner,
        omit_empty=bool(raw.get("o")),
        omit_zero=bool(raw.get("z")),
        number=raw.get("p", 0),
        strategy=raw.get("s", ""),
        merge_key=raw.get("k", ""),
        list_type=raw.get("l", ""),
        map_keys=tuple(raw.get("m", ())),
        atomic=bool(raw.get("a")),
        required=bool(raw.get("r")),
        default=raw.get("d"),
    )


@lru_cache(maxsize=4096)
def struct(name: str) -> Struct:
    """The struct of that name; KeyError when there is none."""
    fields: dict[str, Field] = {}
    own: dict[int, tuple[str, TypeRef]] = {}
    short = name.rpartition(".")[2]
    for raw in _data()["types"][name]:
        if raw.get("i"):
            ref = parse_ref(raw["t"])
            own[raw.get("p", 0)] = ("", ref)
            fields.update(struct(ref.struct).fields)
        else:
            fields[raw["n"]] = _field(raw, short)
            own[raw.get("p", 0)] = (raw["n"], fields[raw["n"]].type)
    return Struct(name, fields, own)


def root(group: str, version: str, kind: str) -> Struct | None:
    """The struct behind a group, version and kind; None for kinds that are not built in."""
    name = _data()["roots"].get(f"{group}/{version}/{kind}")
    return struct(name) if name else None


def roots() -> dict[str, str]:
    """`group/version/Kind` to struct name, for every built-in kind."""
    found: dict[str, str] = _data()["roots"]
    return found


@lru_cache(maxsize=1)
def embedded_kinds() -> frozenset[str]:
    """Structs that carry apiVersion and kind where they stand inside another object."""
    return frozenset(roots().values())
