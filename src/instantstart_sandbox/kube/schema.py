"""Structural schemas of custom definitions: unknown fields pruned, defaults filled in, values checked."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any

import orjson

from instantstart_sandbox.kube.canonical import empty_copy
from instantstart_sandbox.kube.status import Cause

Schema = dict[str, Any]
_ROOT = ("apiVersion", "kind", "metadata")


def _keeps(schema: Schema) -> bool:
    return bool(schema.get("x-kubernetes-preserve-unknown-fields"))


def prune(schema: Schema, value: Any, found: list[str], shown: str = "", root: bool = True) -> Any:
    """The value without fields that the schema does not know; their paths are appended to `found`."""
    if isinstance(value, list):
        items = schema.get("items")
        if not isinstance(items, dict):
            return value
        return [prune(items, v, found, f"{shown}[{i}]", False) for i, v in enumerate(value)]
    if not isinstance(value, dict):
        return value
    properties = schema.get("properties") or {}
    extra = schema.get("additionalProperties")
    embedded = root or bool(schema.get("x-kubernetes-embedded-resource"))
    out: dict[str, Any] = {}
    for name, item in value.items():
        path = f"{shown}.{name}" if shown else name
        if embedded and name in _ROOT:
            out[name] = item
        elif name in properties:
            out[name] = prune(properties[name], item, found, path, False)
        elif isinstance(extra, dict):
            out[name] = prune(extra, item, found, path, False)
        elif extra is True or _keeps(schema):
            out[name] = item
        else:
            found.append(path)
    return out


def fill(schema: Schema, value: Any) -> Any:
    """The value with the schema's defaults, in place; null where a default exists counts as absent."""
    if isinstance(value, dict):
        properties = schema.get("properties") or {}
        for name, item in properties.items():
            default = item.get("default")
            missing = name not in value or (value[name] is None and not item.get("nullable"))
            if missing and default is not None:
                value[name] = empty_copy(default)
            elif name in value and value[name] is None and not item.get("nullable"):
                del value[name]
            if name in value:
                fill(item, value[name])
        extra = schema.get("additionalProperties")
        if isinstance(extra, dict):
            for name, item in value.items():
                if name not in properties:
                    fill(extra, item)
    elif isinstance(value, list) and isinstance(schema.get("items"), dict):
        for item in value:
            fill(schema["items"], item)
    return value


def quote(value: Any) -> str:
    """A value as validation messages show it."""
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, (dict, list)):
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    return str(value)


_TYPES: dict[str, Any] = {"string": str, "boolean": bool, "object": dict, "array": list}


def _type_name(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    for name, kind in _TYPES.items():
        if isinstance(value, kind):
            return name
    if value is None:
        return "null"
    return "integer" if isinstance(value, int) or float(value).is_integer() else "number"


def _fits(schema: Schema, value: Any) -> bool:
    wanted = schema.get("type")
    actual = _type_name(value)
    if schema.get("x-kubernetes-int-or-string"):
        return actual in ("integer", "string")
    return not wanted or actual == wanted or (wanted == "number" and actual == "integer")


class _Validator:
    def __init__(self) -> None:
        self.causes: list[Cause] = []

    def add(self, path: str, reason: str, text: str) -> None:
        self.causes.append(Cause(path, reason, text))

    def bad(self, path: str, value: Any, text: str) -> None:
        self.add(path, "FieldValueInvalid", f"Invalid value: {quote(value)}: {text}")

    def check(self, schema: Schema, value: Any, path: str) -> None:
        """Append the faults of a value; `path` is empty at the root."""
        where = path or "<nil>"
        if value is None and (schema.get("nullable") or not path):
            return
        if not _fits(schema, value):
            wanted = "integer,string" if schema.get("x-kubernetes-int-or-string") else schema.get("type")
            body = f"{where} in body must be of type {wanted}: {quote(_type_name(value))}"
            self.add(where, "FieldValueTypeInvalid", f"Invalid value: {quote(_type_name(value))}: {body}")
            return
        enum = schema.get("enum")
        if enum is not None and value not in enum:
            listed = ", ".join(quote(v) for v in enum)
            self.add(where, "FieldValueNotSupported", f"Unsupported value: {quote(value)}: supported values: {listed}")
        if isinstance(value, str):
            self.string(schema, value, where)
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            self.number(schema, value, where)
        elif isinstance(value, list):
            self.array(schema, value, path, where)
        elif isinstance(value, dict):
            self.object(schema, value, path, where)
        self.combined(schema, value, path, where)

    def string(self, schema: Schema, value: str, where: str) -> None:
        if "maxLength" in schema and len(value) > schema["maxLength"]:
            self.add(where, "FieldValueTooLong", f"Too long: may not be more than {schema['maxLength']} bytes")
        if "minLength" in schema and len(value) < schema["minLength"]:
            self.bad(where, value, f"{where} in body should be at least {schema['minLength']} chars long")
        if "pattern" in schema and not re.search(_python_pattern(schema["pattern"]), value):
            self.bad(where, value, f"{where} in body should match '{schema['pattern']}'")
        if not _format_ok(schema.get("format", ""), value):
            kind = schema["format"]
            self.bad(where, value, f"{where} in body must be of type {kind}: {quote(value)}")

    def number(self, schema: Schema, value: float, where: str) -> None:
        low, high = schema.get("minimum"), schema.get("maximum")
        if low is not None and (value < low or (schema.get("exclusiveMinimum") and value == low)):
            word = "greater than" if schema.get("exclusiveMinimum") else "greater than or equal to"
            self.bad(where, value, f"{where} in body should be {word} {quote(low)}")
        if high is not None and (value > high or (schema.get("exclusiveMaximum") and value == high)):
            word = "less than" if schema.get("exclusiveMaximum") else "less than or equal to"
            self.bad(where, value, f"{where} in body should be {word} {quote(high)}")
        if schema.get("multipleOf") and value % schema["multipleOf"]:
            self.bad(where, value, f"{where} in body should be a multiple of {quote(schema['multipleOf'])}")

    def array(self, schema: Schema, value: list[Any], path: str, where: str) -> None:
        if "maxItems" in schema and len(value) > schema["maxItems"]:
            text = f"Too many: {len(value)}: must have at most {schema['maxItems']} items"
            self.add(where, "FieldValueTooMany", text)
        if "minItems" in schema and len(value) < schema["minItems"]:
            self.bad(where, len(value), f"{where} in body should have at least {schema['minItems']} items")
        items = schema.get("items")
        if isinstance(items, dict):
            for i, item in enumerate(value):
                self.check(items, item, f"{path}[{i}]")
        self.duplicates(schema, value, where)

    def duplicates(self, schema: Schema, value: list[Any], where: str) -> None:
        kind, keys = schema.get("x-kubernetes-list-type"), schema.get("x-kubernetes-list-map-keys") or []
        seen: list[Any] = []
        for i, item in enumerate(value):
            mark = {k: item.get(k) for k in keys} if kind == "map" and isinstance(item, dict) else item
            if kind in ("map", "set") and mark in seen:
                self.add(f"{where}[{i}]", "FieldValueDuplicate", f"Duplicate value: {quote(mark)}")
            seen.append(mark)

    def object(self, schema: Schema, value: dict[str, Any], path: str, where: str) -> None:
        prefix = f"{path}." if path else ""
        for name in schema.get("required") or []:
            if name not in value:
                self.add(prefix + name, "FieldValueRequired", "Required value")
        if "maxProperties" in schema and len(value) > schema["maxProperties"]:
            text = f"Too many: {len(value)}: must have at most {schema['maxProperties']} items"
            self.add(where, "FieldValueTooMany", text)
        if "minProperties" in schema and len(value) < schema["minProperties"]:
            self.bad(where, len(value), f"{where} in body should have at least {schema['minProperties']} properties")
        properties = schema.get("properties") or {}
        extra = schema.get("additionalProperties")
        for name in sorted(value):
            if not path and name in _ROOT:
                continue
            if name in properties:
                self.check(properties[name], value[name], prefix + name)
            elif isinstance(extra, dict):
                self.check(extra, value[name], prefix + name)

    def combined(self, schema: Schema, value: Any, path: str, where: str) -> None:
        for part in schema.get("allOf") or []:
            self.check(part, value, path)
        either = [] if schema.get("x-kubernetes-int-or-string") else schema.get("anyOf") or []
        if either and all(faults(p, value, path) for p in either):
            self.check(either[0], value, path)
            self.bad(where, "", f"{where} in body must validate at least one schema (anyOf)")
        if schema.get("oneOf"):
            matching = sum(1 for p in schema["oneOf"] if not faults(p, value, path))
            if matching != 1:
                found = "Found none valid" if matching == 0 else f"Found {matching} valid alternatives"
                self.bad(where, "", f"{where} in body must validate one and only one schema (oneOf). {found}")
        if schema.get("not") and not faults(schema["not"], value, path):
            self.bad(where, "", f"{where} in body must not validate the schema (not)")


def _python_pattern(pattern: str) -> str:
    """Go's regular expressions, near enough in Python's: `$` there is the very end."""
    return re.sub(r"(?<!\\)\$$", r"\\Z", pattern).replace("[[:alpha:]]", "[A-Za-z]")


def _format_ok(kind: str, value: str) -> bool:
    if kind == "date-time":
        return bool(re.match(r"^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:?\d{2})$", value))
    if kind == "date":
        return bool(re.match(r"^\d{4}-\d{2}-\d{2}$", value))
    if kind == "byte":
        try:
            base64.b64decode(value, validate=True)
        except (binascii.Error, ValueError):
            return False
    if kind == "ipv4":
        return bool(re.match(r"^(\d{1,3}\.){3}\d{1,3}$", value))
    if kind == "uuid":
        return bool(re.match(r"(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$", value))
    return True


def faults(schema: Schema, value: Any, path: str = "") -> list[Cause]:
    """Everything wrong with a value, in the order in which the server names it."""
    validator = _Validator()
    validator.check(schema, value, path)
    return validator.causes
