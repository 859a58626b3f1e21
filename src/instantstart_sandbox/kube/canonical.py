"""JSON into a built-in type and back, as the API server's decoder does it: types checked, unknown fields dropped and
reported, empty values left out or written as the type says."""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass, field
from typing import Any

from instantstart_sandbox.kube import quantity
from instantstart_sandbox.kube.types import Field, Struct, TypeRef, embedded_kinds, struct

_TIME = re.compile(r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$")
_INTEGERS = {"int32": 2**31, "int64": 2**63, "int": 2**63}


class DecodeError(Exception):
    """The value does not fit the type; the text is what follows `cannot be handled as a X: `."""


@dataclass(slots=True)
class Findings:
    """What the decoder noticed: unknown fields, in the order of the document."""

    unknown: list[str] = field(default_factory=list)


def json_kind(value: Any) -> str:
    """The JSON type's name in Go's words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


class _Decoder:
    def __init__(self, findings: Findings) -> None:
        self.findings = findings

    def fail(self, value: Any, ref: TypeRef, where: str, owner: str) -> DecodeError:
        kind = json_kind(value)
        if kind == "number" and ref.shape in _INTEGERS and isinstance(value, float):
            kind = f"number {value}"
        if not where:
            return DecodeError(f"json: cannot unmarshal {kind} into Go value of type {ref.go}")
        return DecodeError(f"json: cannot unmarshal {kind} into Go struct field {owner}.{where} of type {ref.go}")

    def struct(self, kind: Struct, value: dict[str, Any], where: str, shown: str) -> dict[str, Any]:
        """A struct's canonical dict; `where` is the path in messages of Go, `shown` that of strict decoding."""
        out: dict[str, Any] = {}
        if kind.name in embedded_kinds():
            out.update({k: value[k] for k in ("apiVersion", "kind") if where and isinstance(value.get(k), str)})
        for name in value:
            if name not in kind.fields and name not in out:
                self.findings.unknown.append(f"{shown}.{name}" if shown else name)
        for name, item in kind.fields.items():
            given = value.get(name)
            path = f"{where}.{name}" if where else name
            if given is None:
                self._absent(item, out)
                continue
            decoded = self.value(item.type, given, path, item.owner, f"{shown}.{name}" if shown else name)
            if not _left_out(item, decoded):
                out[name] = decoded
        return out

    @staticmethod
    def _absent(item: Field, out: dict[str, Any]) -> None:
        ref = item.type
        if ref.shape == "struct" and not ref.pointer and not item.omit_zero:
            out[item.name] = empty(ref.struct)
        elif not item.omit_zero and not ref.pointer and (not item.omit_empty or ref.shape in _STRUCTS):
            out[item.name] = zero(ref)
        elif not item.omit_empty and not item.omit_zero:
            out[item.name] = None

    def value(self, ref: TypeRef, value: Any, where: str, owner: str, shown: str) -> Any:
        """A value of any type."""
        handler = _SHAPES.get(ref.shape)
        if handler:
            return handler(self, ref, value, where, owner)
        if ref.shape == "struct":
            if not isinstance(value, dict):
                raise self.fail(value, ref, where, owner)
            return self.struct(struct(ref.struct), value, where, shown)
        if ref.shape == "list":
            return self.list(ref, value, where, owner, shown)
        if ref.shape == "map":
            return self.map(ref, value, where, owner, shown)
        return value

    def list(self, ref: TypeRef, value: Any, where: str, owner: str, shown: str) -> list[Any]:
        """A list; null elements become zero values."""
        if not isinstance(value, list) or ref.elem is None:
            raise self.fail(value, ref, where, owner)
        elem = ref.elem
        return [
            zero(elem) if v is None else self.value(elem, v, where, owner, f"{shown}[{i}]") for i, v in enumerate(value)
        ]

    def map(self, ref: TypeRef, value: Any, where: str, owner: str, shown: str) -> dict[str, Any]:
        """A map with string keys."""
        if not isinstance(value, dict) or ref.elem is None:
            raise self.fail(value, ref, where, owner)
        elem = ref.elem
        return {
            k: zero(elem) if v is None else self.value(elem, v, where, owner, f"{shown}.{k}") for k, v in value.items()
        }


def _string(d: _Decoder, ref: TypeRef, value: Any, where: str, owner: str) -> str:
    if not isinstance(value, str):
        raise d.fail(value, ref, where, owner)
    return value


def _bool(d: _Decoder, ref: TypeRef, value: Any, where: str, owner: str) -> bool:
    if not isinstance(value, bool):
        raise d.fail(value, ref, where, owner)
    return value


def _integer(d: _Decoder, ref: TypeRef, value: Any, where: str, owner: str) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise d.fail(value, ref, where, owner)
    if not -_INTEGERS[ref.shape] <= value < _INTEGERS[ref.shape]:
        kind = f"number {value}"
        raise DecodeError(f"json: cannot unmarshal {kind} into Go struct field {owner}.{where} of type {ref.go}")
    return value


def _float(d: _Decoder, ref: TypeRef, value: Any, where: str, owner: str) -> float | int:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise d.fail(value, ref, where, owner)
    return value


def _time(d: _Decoder, ref: TypeRef, value: Any, where: str, owner: str) -> str:
    text = _string(d, ref, value, where, owner)
    if not _TIME.match(text):
        layout = "2006-01-02T15:04:05Z07:00" if ref.shape == "Time" else "2006-01-02T15:04:05.000000Z07:00"
        raise DecodeError(f'parsing time "{text}" as "{layout}": cannot parse "{text}" as "2006"')
    if ref.shape == "Time" and "." in text:
        return text.partition(".")[0] + "Z"
    return text


def _quantity(_d: _Decoder, _ref: TypeRef, value: Any, _where: str, _owner: str) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise DecodeError(quantity.FORM_TEXT)
    try:
        return quantity.canonical(str(value))
    except ValueError as error:
        raise DecodeError(str(error)) from error


def _int_or_string(d: _Decoder, ref: TypeRef, value: Any, where: str, owner: str) -> int | str:
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise d.fail(value, TypeRef("int32"), where, owner)
    return value


def _bytes(d: _Decoder, ref: TypeRef, value: Any, where: str, owner: str) -> str:
    text = _string(d, TypeRef("string", alias="[]uint8"), value, where, owner)
    plain = text.replace("\n", "").replace("\r", "")
    try:
        return base64.b64encode(base64.b64decode(plain, validate=True)).decode()
    except (binascii.Error, ValueError) as error:
        good = re.match(r"[A-Za-z0-9+/]*", plain)
        at = (len(good.group(0)) if good else 0) // 4 * 4 if len(plain) % 4 and plain.isalnum() else 0
        at = at or (len(good.group(0)) if good and good.group(0) != plain else at)
        raise DecodeError(f"illegal base64 data at input byte {at}") from error


_SHAPES: dict[str, Any] = {
    "string": _string,
    "bool": _bool,
    "int32": _integer,
    "int64": _integer,
    "float64": _float,
    "Time": _time,
    "MicroTime": _time,
    "Quantity": _quantity,
    "IntOrString": _int_or_string,
    "bytes": _bytes,
}
_ZERO = {"string": "", "bool": False, "int32": 0, "int64": 0, "float64": 0, "Quantity": "0", "IntOrString": 0}


def zero(ref: TypeRef) -> Any:
    """What an absent value of the type is written as when it is not left out."""
    if ref.pointer:
        return None
    if ref.shape == "struct":
        return empty(ref.struct)
    return _ZERO.get(ref.shape)


_STRUCTS = ("Time", "MicroTime", "Quantity", "IntOrString")
"""Scalars that are structs in Go: an absent one is written all the same."""
_empties: dict[str, dict[str, Any]] = {}


def empty(name: str) -> dict[str, Any]:
    """The canonical form of an empty struct, a fresh dict."""
    known = _empties.get(name)
    if known is None:
        known = _Decoder(Findings()).struct(struct(name), {}, "", "")
        _empties[name] = known
    return {k: (empty_copy(v)) for k, v in known.items()}


def empty_copy(value: Any) -> Any:
    """A copy of plain JSON."""
    if isinstance(value, dict):
        return {k: empty_copy(v) for k, v in value.items()}
    return [empty_copy(v) for v in value] if isinstance(value, list) else value


def _left_out(item: Field, value: Any) -> bool:
    if not item.omit_empty or item.type.pointer:
        return False
    shape = item.type.shape
    if shape in ("list", "map", "bytes"):
        return not value
    if shape in ("string", "bool", "int32", "int64", "float64"):
        return value in ("", False, 0)
    return item.omit_zero and value in ({}, None)


def decode(kind: Struct, value: dict[str, Any], findings: Findings | None = None) -> dict[str, Any]:
    """The canonical object without apiVersion and kind; DecodeError when a value has the wrong type."""
    body = {k: v for k, v in value.items() if k not in ("apiVersion", "kind")}
    return _Decoder(findings or Findings()).struct(kind, body, "", "")


def decode_part(name: str, value: dict[str, Any], findings: Findings | None = None, shown: str = "") -> dict[str, Any]:
    """The canonical form of one struct inside an object, e.g. the metadata of a custom object."""
    return _Decoder(findings or Findings()).struct(struct(name), value, shown, shown)
