"""Protobuf request bodies of typed clients into JSON objects, by the field numbers of the built-in types."""

from __future__ import annotations

import base64
import struct as binary
from datetime import UTC, datetime
from typing import Any

import orjson

from instantstart_sandbox.kube.types import Struct, TypeRef, root, struct

Obj = dict[str, Any]
MAGIC = b"k8s\x00"


class BadProtobufError(ValueError):
    """The bytes are not a message of the expected type."""


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise BadProtobufError("truncated varint")
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def _fields(data: bytes) -> list[tuple[int, int, Any]]:
    """(number, wire type, value) of a message."""
    at, found = 0, []
    while at < len(data):
        tag, at = _varint(data, at)
        kind = tag & 7
        value: Any
        if kind == 0:
            value, at = _varint(data, at)
        elif kind == 2:
            size, at = _varint(data, at)
            value, at = data[at : at + size], at + size
            if len(value) != size:
                raise BadProtobufError("truncated field")
        elif kind == 1:
            value, at = data[at : at + 8], at + 8
        elif kind == 5:
            value, at = data[at : at + 4], at + 4
        else:
            raise BadProtobufError(f"wire type {kind}")
        found.append((tag >> 3, kind, value))
    return found


def _signed(value: int) -> int:
    return value - 2**64 if value >= 2**63 else value


def _time(data: bytes, micro: bool) -> str | None:
    parts = {n: v for n, _, v in _fields(data)}
    if not parts:
        return None
    when = datetime.fromtimestamp(_signed(parts.get(1, 0)), UTC)
    if micro:
        return f"{when:%Y-%m-%dT%H:%M:%S}.{parts.get(2, 0) // 1000:06d}Z"
    return f"{when:%Y-%m-%dT%H:%M:%SZ}"


def _int_or_string(data: bytes) -> int | str:
    parts = {n: v for n, _, v in _fields(data)}
    if parts.get(1, 0) == 1:
        return bytes(parts.get(3, b"")).decode()
    return _signed(parts.get(2, 0))


def _scalar(ref: TypeRef, kind: int, value: Any) -> Any:
    if ref.shape == "string":
        return bytes(value).decode()
    if ref.shape == "bool":
        return bool(value)
    if ref.shape in ("int32", "int64", "int"):
        return _signed(value)
    if ref.shape == "float64":
        return binary.unpack("<d", value)[0] if kind == 1 else binary.unpack("<f", value)[0]
    if ref.shape == "bytes":
        return base64.b64encode(value).decode()
    if ref.shape in ("Time", "MicroTime"):
        return _time(value, ref.shape == "MicroTime")
    if ref.shape == "Quantity":
        return next((bytes(v).decode() for n, _, v in _fields(value) if n == 1), "0")
    if ref.shape == "IntOrString":
        return _int_or_string(value)
    if ref.shape in ("Raw", "Fields", "JSON"):
        raw = next((v for n, _, v in _fields(value) if n == 1), b"null")
        return orjson.loads(raw)
    raise BadProtobufError(f"cannot read a {ref.shape}")


def _value(ref: TypeRef, kind: int, value: Any) -> Any:
    return message(struct(ref.struct), value) if ref.shape == "struct" else _scalar(ref, kind, value)


def _entry(ref: TypeRef, data: bytes) -> tuple[str, Any]:
    key = ""
    value: Any = None
    for number, kind, raw in _fields(data):
        if number == 1:
            key = bytes(raw).decode()
        elif ref.shape == "list" and ref.elem is not None:
            value = [_value(ref.elem, k, v) for n, k, v in _fields(raw) if n == 1]
        else:
            value = _value(ref, kind, raw)
    if value is None:
        value = [] if ref.shape == "list" else "" if ref.shape in ("string", "bytes") else None
    return key, value


def message(kind: Struct, data: bytes) -> Obj:
    """A message as a JSON object; unknown fields are left out."""
    out: Obj = {}
    for number, wire, raw in _fields(data):
        found = kind.own.get(number)
        if found is None:
            continue
        name, ref = found
        if name == "" and ref.shape == "struct":
            out.update(message(struct(ref.struct), raw))
        elif ref.shape == "list" and ref.elem is not None:
            if wire == 2 and ref.elem.shape in ("int32", "int64"):
                at = 0
                while at < len(raw):
                    number_, at = _varint(raw, at)
                    out.setdefault(name, []).append(_signed(number_))
            else:
                out.setdefault(name, []).append(_value(ref.elem, wire, raw))
        elif ref.shape == "map" and ref.elem is not None:
            key, value = _entry(ref.elem, raw)
            out.setdefault(name, {})[key] = value
        else:
            out[name] = _value(ref, wire, raw)
    return out


def decode(data: bytes) -> Obj:
    """The object of an `application/vnd.kubernetes.protobuf` body; BadProtobufError when it is none of a known kind."""
    if data[:4] != MAGIC:
        raise BadProtobufError("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]")
    parts = {n: v for n, _, v in _fields(data[4:])}
    head = {n: bytes(v).decode() for n, _, v in _fields(parts.get(1, b""))}
    api_version, name = head.get(1, ""), head.get(2, "")
    group, _, version = api_version.rpartition("/")
    kind = root(group, version, name)
    if kind is None and name == "DeleteOptions":
        kind = struct("meta/v1.DeleteOptions")
    if kind is None:
        raise BadProtobufError(f'no kind "{name}" is registered for version "{api_version}"')
    return {"apiVersion": api_version, "kind": name, **message(kind, parts.get(2, b""))}
