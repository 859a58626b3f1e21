"""Request bodies: JSON, YAML and protobuf, decoded and checked as the API server does it, complaints included."""

from __future__ import annotations

import json
from typing import Any

import orjson
import yaml

from instantstart_sandbox.kube import protobuf
from instantstart_sandbox.kube.canonical import DecodeError
from instantstart_sandbox.kube.catalog import Kind
from instantstart_sandbox.kube.engine import Engine
from instantstart_sandbox.kube.status import Cause, bad_request, invalid, unsupported_media
from instantstart_sandbox.kube.types import roots
from instantstart_sandbox.kube.wire import Request

Obj = dict[str, Any]
_SCHEME = "k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30"
_TYPES = ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"]


class _Duplicates(list[str]):
    """Names that occurred twice in one object."""


def _pairs(found: list[str]) -> Any:
    def build(pairs: list[tuple[str, Any]]) -> Obj:
        out: Obj = {}
        for name, value in pairs:
            if name in out:
                found.append(name)
            out[name] = value
        return out

    return build


def _path_of(value: Any, name: str, where: str = "") -> str:
    """Where a field of that name first stands, for the message about a repeated field."""
    if isinstance(value, dict):
        for key, item in value.items():
            path = f"{where}.{key}" if where else key
            if key == name:
                return path
            if (found := _path_of(item, name, path)) != "":
                return found
    elif isinstance(value, list):
        for i, item in enumerate(value):
            if (found := _path_of(item, name, f"{where}[{i}]")) != "":
                return found
    return ""


def media_type(request: Request) -> str:
    """The body's type without parameters; JSON when none is named."""
    return request.headers.get("content-type", "application/json").partition(";")[0].strip() or "application/json"


def raw(request: Request, repeated: list[str] | None = None, wanted: str = "") -> Any:
    """The body as plain data; ApiError 400 or 415. `wanted`: the kind that is named in complaints."""
    kind = media_type(request)
    if kind == "application/vnd.kubernetes.protobuf":
        try:
            return protobuf.decode(request.body)
        except (protobuf.BadProtobufError, ValueError) as error:
            raise bad_request(str(error)) from error
    if kind in ("application/yaml", "application/apply-patch+yaml"):
        return _yaml(request.body)
    if kind not in ("application/json", "application/merge-patch+json", "application/json-patch+json",
                    "application/strategic-merge-patch+json"):  # fmt: skip
        raise unsupported_media(_TYPES)
    names: list[str] = []
    try:
        value = (
            json.loads(request.body or b"null", object_pairs_hook=_pairs(names))
            if repeated is not None
            else orjson.loads(request.body or b"null")
        )
    except ValueError as error:
        raise bad_request(_syntax(request.body, wanted, error)) from error
    if repeated is not None:
        repeated.extend(_path_of(value, n) for n in names)
    return value


def _yaml(body: bytes) -> Any:
    try:
        return yaml.safe_load(body)
    except yaml.YAMLError as error:
        problem = getattr(error, "problem", None) or str(error)
        mark = getattr(error, "problem_mark", None)
        words = {"expected the node content, but found '<stream end>'": "did not find expected node content"}
        text = words.get(problem, "did not find expected key" if "expected" in problem else problem)
        line = f"line {mark.line + 1}: " if mark is not None and (mark.line or "node content" in text) else ""
        raise bad_request(f"error decoding YAML: error converting YAML to JSON: yaml: {line}{text}") from error


def _syntax(body: bytes, wanted: str, error: Exception) -> str:
    text = body.decode(errors="replace")
    shown = text if len(text) <= 30 else text[:30] + " ..."
    why = "unexpected end of JSON input"
    if isinstance(error, ValueError):
        try:
            json.loads(text)
        except json.JSONDecodeError as inner:
            at = inner.pos
            if inner.msg == "Extra data":
                why = f"invalid character '{text[at]}' after top-level value"
            elif at < len(text):
                place = "object key:value pair" if "delimiter" in inner.msg else "beginning of value"
                word = "after" if "delimiter" in inner.msg else "looking for"
                why = f"invalid character '{text[at]}' {word} {place}"
    head = f"the object provided is unrecognized (must be of type {wanted}): " if wanted else ""
    return f"{head}couldn't get version/kind; json parse error: {why} ({shown})"


def check_kind(kind: Kind, body: Any, sub_kind: str = "", sub_version: str = "") -> Obj:
    """The body with apiVersion and kind as they should be; ApiError 400 when they are others."""
    wanted, api_version = sub_kind or kind.kind, sub_version or kind.api_version
    if body is None:
        body = {}
    if not isinstance(body, dict):
        name = "string" if isinstance(body, str) else "array" if isinstance(body, list) else "number"
        form = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
        shown = orjson.dumps(body)
        digits = shown.hex() if name == "string" else shown.decode()
        text = (
            f"couldn't get version/kind; json parse error: json: cannot unmarshal {name} into Go value of type {form}"
        )
        raise bad_request(f"the object provided is unrecognized (must be of type {wanted}): {text} ({digits})")
    given_kind, given_version = body.get("kind") or wanted, body.get("apiVersion") or api_version
    if kind.custom is not None and not sub_kind:
        _check_custom(kind, given_kind, given_version, body)
    elif (given_kind, given_version) != (wanted, api_version):
        group, _, version = given_version.rpartition("/")
        short = version if not group else given_version
        head = f'{given_kind} in version "{version}" cannot be handled as a {wanted}: '
        if f"{group}/{version}/{given_kind}" not in roots():
            raise bad_request(f'{head}no kind "{given_kind}" is registered for version "{short}" in scheme "{_SCHEME}"')
        if given_kind != wanted:
            package = kind.group.partition(".")[0] or "core"
            raise bad_request(f"{head}converting (v1.{given_kind}) to ({package}.{wanted}): unknown conversion")
        if group != kind.group and not sub_kind:
            text = (
                f"the API version in the data ({given_version}) does not match the expected API version ({api_version})"
            )
            raise bad_request(text)
    return {**body, "kind": wanted, "apiVersion": api_version}


def _check_custom(kind: Kind, given_kind: str, given_version: str, body: Obj) -> None:
    if given_version != kind.api_version:
        wanted = f"the expected API version ({kind.api_version})"
        raise bad_request(f"the API version in the data ({given_version}) does not match {wanted}")
    if given_kind != kind.kind:
        name = (body.get("metadata") or {}).get("name", "")
        text = f'Invalid value: "{given_kind}": must be {kind.kind}'
        raise invalid(given_kind, kind.group, name, [Cause("kind", "FieldValueInvalid", text)])


def decode(engine: Engine, request: Request, kind: Kind, warnings: list[str], fill: bool = True) -> Obj:
    """The object of a create or update in normal form; ApiError 400 for what does not decode."""
    repeated: list[str] = []
    body = check_kind(kind, raw(request, repeated, kind.kind))
    return normal(engine, request, kind, body, warnings, repeated, fill)


def normal(
    engine: Engine,
    request: Request,
    kind: Kind,
    body: Obj,
    warnings: list[str],
    repeated: list[str] | None = None,
    fill: bool = True,
) -> Obj:
    """Plain data in normal form, unknown and repeated fields treated as `fieldValidation` asks."""
    unknown: list[str] = []
    try:
        obj = engine.normal(kind, body, unknown, fill)
    except DecodeError as error:
        raise bad_request(
            f'{kind.kind} in version "{kind.version}" cannot be handled as a {kind.kind}: {error}'
        ) from error
    complaints = [f'duplicate field "{r}"' for r in repeated or []] + [f'unknown field "{u}"' for u in unknown]
    mode = request.arg("fieldValidation") or "Warn"
    if complaints and mode == "Strict":
        head = f'{kind.kind} in version "{kind.version}" cannot be handled as a {kind.kind}'
        raise bad_request(f"{head}: strict decoding error: " + ", ".join(complaints))
    if mode == "Warn":
        warnings.extend(complaints)
    return obj
