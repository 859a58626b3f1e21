"""Sets of field paths: what an object contains, what differs between two, and taking paths out of an object.

A path is a tuple of elements as in FieldsV1: `f:name`, `k:{"name":"c"}`, `v:"x"`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson

from instantstart_sandbox.kube.shapes import Shape, dumps

Path = tuple[str, ...]
Paths = set[Path]
_MISSING: Any = object()


class TypingError(Exception):
    """An applied object does not fit the schema; text as the server words it."""


def _is_leaf(shape: Shape, one: Any, two: Any) -> bool:
    if shape.atomic or shape.kind == "leaf":
        return True
    values = [v for v in (one, two) if v is not _MISSING]
    if any(v is not None and not isinstance(v, (dict, list)) for v in values):
        return True
    if any(isinstance(v, list) for v in values) and (shape.kind == "any"):
        return True
    return all(not v for v in values)


def element(shape: Shape, item: Any) -> str:
    """The path element of a list item."""
    if shape.keys and isinstance(item, dict):
        defaults = dict(shape.defaults)
        key = {k: item.get(k, defaults.get(k)) for k in shape.keys if k in item or k in defaults}
        return "k:" + dumps(key)
    return "v:" + dumps(item)


def children(shape: Shape, value: Any) -> dict[str, Any]:
    """Path element to value of a map's or associative list's items."""
    if isinstance(value, dict):
        return {"f:" + k: v for k, v in value.items()}
    if isinstance(value, list):
        found: dict[str, Any] = {}
        for item in value:
            found.setdefault(element(shape, item), item)
        return found
    return {}


def child_shape(shape: Shape, name: str) -> Shape:
    """Shape below a path element."""
    if name.startswith("f:"):
        return shape.child(name[2:]) or Shape("any")
    return shape.elem()


@dataclass
class Difference:
    """Paths of two objects' differences."""

    added: Paths = field(default_factory=set)
    modified: Paths = field(default_factory=set)
    removed: Paths = field(default_factory=set)

    @property
    def same(self) -> bool:
        """Whether nothing differs."""
        return not (self.added or self.modified or self.removed)


def compare(shape: Shape, old: Any, new: Any, path: Path = (), found: Difference | None = None) -> Difference:
    """What was added, modified and removed from `old` to `new`."""
    found = found if found is not None else Difference()
    if _is_leaf(shape, old, new):
        if old is _MISSING:
            found.added.add(path)
        elif new is _MISSING:
            found.removed.add(path)
        elif old != new:
            found.modified.add(path)
        return found
    one, two = children(shape, old), children(shape, new)
    for name in {**one, **two}:
        compare(child_shape(shape, name), one.get(name, _MISSING), two.get(name, _MISSING), (*path, name), found)
    if path and old is _MISSING:
        found.added.add(path)
    elif path and new is _MISSING:
        found.removed.add(path)
    return found


def contents(shape: Shape, value: Any, path: Path = (), found: Paths | None = None) -> Paths:
    """The paths an applied object speaks about."""
    found = found if found is not None else set()
    if _is_leaf(shape, value, _MISSING):
        found.add(path)
        return found
    declared = shape.declared
    for name, item in children(shape, value).items():
        below = (*path, name)
        contents(child_shape(shape, name), item, below, found)
        if not name.startswith("f:") or (shape.kind != "any" and name[2:] not in declared) or shape.kind == "any":
            found.add(below)
    return found


def check(shape: Shape, value: Any, where: str = "") -> None:
    """TypingError for undeclared fields, wrong types and repeated keys of an applied object."""
    if value is None or shape.kind == "any":
        return
    if shape.kind in ("struct", "map"):
        if not isinstance(value, dict):
            raise TypingError(f"{where or '.'}: expected map, got &value.valueUnstructured{{Value:{_go(value)}}}")
        for name, item in value.items():
            below = shape.child(name)
            if below is None:
                raise TypingError(f"{where}.{name}: field not declared in schema")
            check(below, item, f"{where}.{name}")
    elif shape.kind == "list":
        if not isinstance(value, list):
            raise TypingError(f"{where}: expected list, got &value.valueUnstructured{{Value:{_go(value)}}}")
        _check_items(shape, value, where)
    else:
        _check_scalar(shape, value, where)


def _check_scalar(shape: Shape, value: Any, where: str) -> None:
    fits = {
        "string": isinstance(value, str),
        "boolean": isinstance(value, bool),
        "numeric": isinstance(value, (int, float)) and not isinstance(value, bool),
    }
    words = {"numeric": "numeric (int or float)"}
    if not fits.get(shape.source, not isinstance(value, (dict, list))):
        wanted = words.get(shape.source, shape.source or "scalar")
        raise TypingError(f"{where}: expected {wanted}, got &value.valueUnstructured{{Value:{_go(value)}}}")


def _check_items(shape: Shape, value: list[Any], where: str) -> None:
    seen: set[str] = set()
    for i, item in enumerate(value):
        if shape.keys:
            defaults = dict(shape.defaults)
            absent = [k for k in shape.keys if not isinstance(item, dict) or (k not in item and k not in defaults)]
            if len(absent) == len(shape.keys):
                listed = " ".join(f'"{k}"' for k in absent)
                text = f"omits all key fields [{listed}] (and doesn't have default values for any key fields)"
                raise TypingError(f"{where}: element {i}: associative list with keys has an element that {text}")
            if absent:
                text = f'omits key field "{absent[0]}" (and doesn\'t have default value)'
                raise TypingError(f"{where}: element {i}: associative list with keys has an element that {text}")
        name = element(shape, item) if shape.keys or shape.is_set else str(i)
        if name in seen:
            raise TypingError(f"{where}: duplicate entries for key {shown(name)}")
        seen.add(name)
        check(shape.elem(), item, where + (shown(name) if shape.keys or shape.is_set else f"[{i}]"))


def _go(value: Any) -> str:
    return str(value)


def shown(name: str) -> str:
    """A path element as conflict messages write it."""
    kind, text = name[:2], name[2:]
    if kind == "f:":
        return "." + text
    if kind == "k:":
        parts = [f"{k}={dumps(v)}" for k, v in orjson.loads(text).items()]
        return "[" + ",".join(parts) + "]"
    return f"[={text}]"


def shown_path(path: Path) -> str:
    """A whole path as conflict messages write it."""
    return "".join(shown(p) for p in path)


def remove(shape: Shape, value: Any, paths: Paths, path: Path = ()) -> Any:
    """The value without what stands at the paths."""
    if not paths or _is_leaf(shape, value, _MISSING):
        return value
    if isinstance(value, dict):
        out = {}
        for name, item in value.items():
            below = (*path, "f:" + name)
            if below in paths:
                continue
            out[name] = remove(child_shape(shape, "f:" + name), item, paths, below)
        return out
    kept = []
    for item in value:
        below = (*path, element(shape, item))
        if below not in paths:
            kept.append(remove(shape.elem(), item, paths, below))
    return kept


def merge(shape: Shape, live: Any, config: Any) -> Any:
    """The live value with an applied one laid over it."""
    if live is _MISSING or _is_leaf(shape, live, config) or not isinstance(live, type(config)):
        return config
    if isinstance(config, dict):
        out = dict(live)
        for name, item in config.items():
            out[name] = merge(child_shape(shape, "f:" + name), live.get(name, _MISSING), item)
        return out
    return _merge_list(shape, live, config)


def _merge_list(shape: Shape, live: list[Any], config: list[Any]) -> list[Any]:
    mine, theirs = children(shape, live), children(shape, config)
    out = []
    pending = list(theirs)
    for name, item in mine.items():
        if name not in theirs:
            out.append(item)
            continue
        while pending and pending[0] != name and pending[0] not in mine:
            out.append(theirs[pending.pop(0)])
        if name in pending:
            pending.remove(name)
        out.append(merge(shape.elem(), item, theirs[name]))
    return out + [theirs[n] for n in pending]


def encode(paths: Paths) -> dict[str, Any]:
    """Paths as FieldsV1."""
    root: dict[str, Any] = {}
    for path in sorted(paths):
        node = root
        for name in path:
            node = node.setdefault(name, {})
    for path in paths:
        node = root
        for name in path:
            node = node[name]
        if node:
            node["."] = {}
    return _sorted(root)


def _sorted(node: dict[str, Any]) -> dict[str, Any]:
    return {k: _sorted(node[k]) for k in sorted(node)}


def decode(fields: dict[str, Any] | None) -> Paths:
    """FieldsV1 as paths."""
    return set(_walk(fields or {}, ()))


def _walk(node: dict[str, Any], path: Path) -> Iterator[Path]:
    for name, below in node.items():
        if name == ".":
            yield path
        elif not below:
            yield (*path, name)
        else:
            yield from _walk(below, (*path, name))


def with_named(shape: Shape, paths: Paths) -> Paths:
    """The paths plus those struct fields above them that are only implied."""
    out = set(paths)
    for path in paths:
        here = shape
        for i, name in enumerate(path[:-1]):
            if name.startswith("f:") and here.kind == "struct" and name[2:] in here.declared:
                out.add(path[: i + 1])
            here = child_shape(here, name)
    return out


MISSING = _MISSING
