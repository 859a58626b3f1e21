"""Parameters against the constraints of their shapes, with AWS's own wording, every fault at once."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from botocore.model import ListShape, MapShape, Shape, StringShape, StructureShape

_SAYS_NULL = "Member must not be null"


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> re.Pattern[str] | None:
    try:
        return re.compile(pattern)
    except re.error:
        return None  # Java's own classes, which Python does not read


def faults(shape: StructureShape | None, params: dict[str, Any]) -> list[str]:
    """What is wrong, each as "Value … at '…' failed to satisfy constraint: …"."""
    found: list[tuple[str, str, str]] = []
    if shape is not None:
        _structure(shape, params, "", found)
    return [f"Value {value} at '{path}' failed to satisfy constraint: {rule}" for value, path, rule in found]


def message(found: list[str]) -> str:
    """The message of the one error that names them all."""
    noun = "validation error" if len(found) == 1 else "validation errors"
    return f"{len(found)} {noun} detected: " + "; ".join(found)


def _member(path: str, name: str) -> str:
    lower = name[0].lower() + name[1:]
    return f"{path}.{lower}" if path else lower


def _structure(shape: StructureShape, value: dict[str, Any], path: str, found: list[tuple[str, str, str]]) -> None:
    for name in shape.required_members:
        if value.get(name) is None:
            found.append(("null", _member(path, name), _SAYS_NULL))
    for name, given in value.items():
        member = shape.members.get(name)
        if member is not None and given is not None:
            _check(member, given, _member(path, name), found)


def _check(shape: Shape, value: Any, path: str, found: list[tuple[str, str, str]]) -> None:
    limits = shape.metadata
    if isinstance(shape, StructureShape):
        _structure(shape, value, path, found)
    elif isinstance(shape, ListShape):
        _length(limits, value, path, found)
        for number, item in enumerate(value, 1):
            _check(shape.member, item, f"{path}.{number}.member", found)
    elif isinstance(shape, MapShape):
        _length(limits, value, path, found)
        for key, item in value.items():
            _check(shape.key, key, f"{path}.key", found)
            _check(shape.value, item, f"{path}.{key}.member", found)
    elif isinstance(shape, StringShape):
        _string(shape, value, path, found)
    elif shape.type_name in ("integer", "long", "float", "double"):
        _number(limits, value, path, found)


def _length(limits: dict[str, Any], value: Any, path: str, found: list[tuple[str, str, str]]) -> None:
    shown = f"'{value}'" if isinstance(value, str) else f"'{_short(value)}'"
    if limits.get("min") is not None and len(value) < limits["min"]:
        found.append((shown, path, f"Member must have length greater than or equal to {limits['min']}"))
    if limits.get("max") is not None and len(value) > limits["max"]:
        found.append((shown, path, f"Member must have length less than or equal to {limits['max']}"))


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 200 else text[:200] + "..."


def _number(limits: dict[str, Any], value: float, path: str, found: list[tuple[str, str, str]]) -> None:
    if limits.get("min") is not None and value < limits["min"]:
        found.append((f"'{value}'", path, f"Member must have value greater than or equal to {limits['min']}"))
    if limits.get("max") is not None and value > limits["max"]:
        found.append((f"'{value}'", path, f"Member must have value less than or equal to {limits['max']}"))


def _string(shape: StringShape, value: str, path: str, found: list[tuple[str, str, str]]) -> None:
    limits = shape.metadata
    _length(limits, value, path, found)
    if shape.enum and value not in shape.enum:
        found.append((f"'{value}'", path, f"Member must satisfy enum value set: [{', '.join(shape.enum)}]"))
    pattern = _compiled(limits["pattern"]) if limits.get("pattern") else None
    if pattern is not None and not pattern.fullmatch(value):
        rule = f"Member must satisfy regular expression pattern: {limits['pattern']}"
        found.append((f"'{value}'", path, rule))


def validation_error(service: str, found: list[str]) -> tuple[str, str]:
    """(code, message) with which a service refuses parameters."""
    codes = {
        "eks": "InvalidParameterException",
        "cloudformation": "ValidationError",
        "service-quotas": "IllegalArgumentException",
    }
    return codes.get(service, "ValidationException"), message(found)
