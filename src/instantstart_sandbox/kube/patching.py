"""The three classic patches: JSON patch, JSON merge patch, strategic merge patch."""

from __future__ import annotations

from typing import Any

import jsonpatch
import jsonpointer

from instantstart_sandbox.kube.canonical import empty_copy
from instantstart_sandbox.kube.status import ApiError, Cause, bad_request, invalid
from instantstart_sandbox.kube.types import Field, Struct, TypeRef, struct

Obj = dict[str, Any]
_ORDER, _DELETE = "$setElementOrder/", "$deleteFromPrimitiveList/"


def json_patch(obj: Obj, operations: Any) -> Obj:
    """RFC 6902; ApiError 422 when an operation fails."""
    if not isinstance(operations, list):
        kind = "object" if isinstance(operations, dict) else "string" if isinstance(operations, str) else "number"
        text = f"json: cannot unmarshal {kind} into Go value of type []handlers.jsonPatchOp"
        raise bad_request(f"error decoding patch: {text}")
    try:
        patched: Obj = empty_copy(obj)
        for operation in operations:
            patched = jsonpatch.apply_patch(patched, [_lenient(patched, operation)])
    except (jsonpatch.JsonPatchException, jsonpointer.JsonPointerException, KeyError, TypeError) as error:
        text = "the server rejected our request due to an error in our request"
        raise ApiError(422, "Invalid", text, {}) from error
    return patched


def _lenient(obj: Obj, operation: Any) -> Any:
    """The server's library replaces what a map does not have yet, too."""
    if isinstance(operation, dict) and operation.get("op") == "replace" and str(operation.get("path", "")).count("/"):
        parent, _, last = operation["path"].rpartition("/")
        holder = jsonpointer.resolve_pointer(obj, parent, None)
        if isinstance(holder, dict) and last.replace("~1", "/").replace("~0", "~") not in holder:
            return {**operation, "op": "add"}
    return operation


def merge_patch(target: Any, patch: Any) -> Any:
    """RFC 7396."""
    if not isinstance(patch, dict):
        return patch
    out = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            out.pop(name, None)
        else:
            out[name] = merge_patch(out.get(name), value)
    return out


def _go_map(value: Any) -> str:
    """A value as Go's %v prints it."""
    if isinstance(value, dict):
        return "map[" + " ".join(f"{k}:{_go_map(v)}" for k, v in sorted(value.items())) + "]"
    if isinstance(value, list):
        return "[" + " ".join(_go_map(v) for v in value) + "]"
    if value is None:
        return "<nil>"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


class _Strategic:
    def __init__(self, patch: Obj) -> None:
        self.patch = patch

    def map(self, kind: Struct | None, elem: TypeRef | None, live: Obj, patch: Obj) -> Obj:
        """A map or struct; `elem` is the value type of a plain map."""
        directive = patch.get("$patch")
        if directive is not None:
            if directive == "replace":
                return {k: v for k, v in patch.items() if k != "$patch"}
            if directive == "delete":
                return {}
            if directive != "merge":
                raise ApiError(500, "", f"unknown patch type: {directive} in map: {_go_map(patch)}")
        out = dict(live)
        retained = patch.get("$retainKeys")
        if retained is not None:
            out = {k: v for k, v in out.items() if k in retained}
        orders = {k[len(_ORDER) :]: v for k, v in patch.items() if k.startswith(_ORDER)}
        for name, value in patch.items():
            if name.startswith(_DELETE):
                plain = name[len(_DELETE) :]
                out[plain] = [v for v in out.get(plain) or [] if v not in value]
            elif not name.startswith("$"):
                self.entry(kind, elem, out, name, value, orders.get(name))
        for name, order in orders.items():
            if name not in patch and isinstance(out.get(name), list):
                out[name] = _ordered(self.field(kind, name), out[name], order, out[name])
        return out

    @staticmethod
    def field(kind: Struct | None, name: str) -> Field | None:
        return kind.fields.get(name) if kind is not None else None

    def entry(self, kind: Struct | None, elem: TypeRef | None, out: Obj, name: str, value: Any, order: Any) -> None:
        """Merge one entry of a patch into `out`."""
        if value is None:
            out.pop(name, None)
            return
        item = self.field(kind, name)
        ref = item.type if item is not None else elem
        if isinstance(value, dict):
            if ref is not None and ref.shape == "list":
                text = f'Invalid value: "{_go_map(self.patch)}": cannot restore slice from map'
                raise invalid("", "", "", [Cause("patch", "FieldValueInvalid", text)])
            live = out.get(name)
            inner = struct(ref.struct) if ref is not None and ref.shape == "struct" else None
            below = ref.elem if ref is not None and ref.shape == "map" else None
            if not isinstance(live, dict):
                live = {}
            out[name] = self.map(inner, below, live, value)
        elif isinstance(value, list) and item is not None and "merge" in item.strategy:
            out[name] = self.merged(item, out.get(name) or [], value, order)
        else:
            out[name] = _clean(value)

    def merged(self, item: Field, live: list[Any], patch: list[Any], order: Any) -> list[Any]:
        """A list that merges, by key or as a set of plain values."""
        if any(isinstance(p, dict) and p.get("$patch") == "replace" and len(p) == 1 for p in patch):
            return [_clean(p) for p in patch if not (isinstance(p, dict) and p.get("$patch") == "replace")]
        if not item.merge_key:
            _check_order(patch, order)
            merged = [*live, *(p for p in patch if p not in live)]
            if order is None:
                merged = [*patch, *(v for v in live if v not in patch)]
            return _ordered(item, merged, order, live)
        return self.keyed(item, live, patch, order)

    def keyed(self, item: Field, live: list[Any], patch: list[Any], order: Any) -> list[Any]:
        key = item.merge_key
        inner = struct(item.type.elem.struct) if item.type.elem is not None and item.type.elem.struct else None
        out = list(live)
        for part in patch:
            if not isinstance(part, dict) or key not in part:
                raise ApiError(500, "", f"map: {_go_map(part)} does not contain declared merge key: {key}")
            at = next((i for i, v in enumerate(out) if v.get(key) == part[key]), None)
            directive = part.get("$patch")
            if directive == "delete":
                out = [v for v in out if v.get(key) != part[key]]
            elif directive == "replace":
                fresh = _clean({k: v for k, v in part.items() if k != "$patch"})
                out = [*(v for v in out if v.get(key) != part[key]), fresh]
            elif directive == "merge":
                raise ApiError(500, "", "merging lists cannot yet be specified in the patch")
            elif directive is not None:
                raise ApiError(500, "", f"unknown patch type: {directive} in map: {_go_map(part)}")
            elif at is None:
                out.append(self.map(inner, None, {}, part))
            else:
                out[at] = self.map(inner, None, out[at], part)
        if order is None:
            named = [p[key] for p in patch if p.get("$patch") is None]
            order = [{key: n} for n in named]
        return _ordered(item, out, order, live)


def _check_order(patch: list[Any], order: Any) -> None:
    if order is None:
        return
    positions = [order.index(p) if p in order else -1 for p in patch]
    if positions != sorted(positions) or -1 in positions:
        text = f"The order in patch list:\n{_go_map(patch)}\n doesn't match $setElementOrder list:\n{_go_map(order)}\n"
        raise ApiError(500, "", text)


def _ordered(item: Field | None, merged: list[Any], order: Any, live: list[Any]) -> list[Any]:
    """Items named in `order` in that order; the others keep their place relative to their live neighbours."""
    if order is None:
        return merged
    key = item.merge_key if item is not None else ""

    def mark(value: Any) -> Any:
        return value.get(key) if key and isinstance(value, dict) else value

    places = {mark(o): i for i, o in enumerate(order)}
    named = sorted((v for v in merged if mark(v) in places), key=lambda v: places[mark(v)])
    others = [v for v in merged if mark(v) not in places]
    live_at = {mark(v): i for i, v in enumerate(live)}
    out: list[Any] = []
    while named or others:
        if not others:
            out.append(named.pop(0))
        elif not named:
            out.append(others.pop(0))
        else:
            left, right = live_at.get(mark(named[0])), live_at.get(mark(others[0]), len(live))
            out.append(named.pop(0) if left is None or left < right else others.pop(0))
    return out


def _clean(value: Any) -> Any:
    """A value without directives and nulls, for places where nothing was before."""
    if isinstance(value, dict):
        return {k: _clean(v) for k, v in value.items() if not k.startswith("$") and v is not None}
    return [_clean(v) for v in value] if isinstance(value, list) else value


def strategic_patch(kind: Struct, obj: Obj, patch: Obj) -> Obj:
    """Kubernetes' strategic merge patch, by the type's merge keys."""
    return _Strategic(patch).map(kind, None, obj, patch)
