"""Requests to parameters, for the protocols of our own services and, leniently, for what the log shows of others."""

from __future__ import annotations

import base64
import binascii
import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import parse_qs

import orjson
from botocore.model import ListShape, MapShape, OperationModel, Shape, StructureShape

from instantstart_sandbox.aws.errors import AwsError
from instantstart_sandbox.aws.messages import WireRequest
from instantstart_sandbox.aws.wire.models import form_of, match_route

Params = dict[str, Any]


def _unfit(path: str, wanted: str) -> AwsError:
    return AwsError("SerializationException", f"{path or 'body'} is not of type {wanted}", 400)


def parse_json(operation: OperationModel, request: WireRequest) -> Params:
    """Parameters of a JSON 1.x request."""
    body = _json_body(request)
    return _structure(operation.input_shape, body, "") if operation.input_shape else {}


def parse_rest_json(operation: OperationModel, request: WireRequest) -> Params:
    """Parameters of a REST-JSON request: path, query, headers and body."""
    shape = operation.input_shape
    if shape is None:
        return {}
    found = match_route(operation.service_model.service_name, request)
    labels = found[1] if found else {}
    query = parse_qs(request.query_string, keep_blank_values=True)
    params: Params = {}
    in_body = {}
    for name, member in shape.members.items():
        where = member.serialization.get("location")
        wire = member.serialization.get("name", name)
        if where == "uri":
            params[name] = _text(member, labels.get(wire, ""), name)
        elif where == "querystring":
            _from_query(params, name, member, query, wire)
        elif where == "header":
            if wire.lower() in request.headers:
                params[name] = _text(member, request.headers[wire.lower()], name)
        else:
            in_body[name] = member
    if in_body and request.body:
        body = _json_body(request)
        for name, member in in_body.items():
            value = body.get(member.serialization.get("name", name))
            if value is not None:
                params[name] = _value(member, value, name)
    return params


def _from_query(params: Params, name: str, member: Shape, query: dict[str, list[str]], wire: str) -> None:
    if isinstance(member, MapShape):
        return
    if wire in query:
        values = query[wire]
        is_list = isinstance(member, ListShape)
        params[name] = [_text(member.member, v, name) for v in values] if is_list else _text(member, values[-1], name)


def _json_body(request: WireRequest) -> dict[str, Any]:
    if not request.body:
        return {}
    try:
        body = orjson.loads(request.body)
    except orjson.JSONDecodeError as error:
        raise AwsError("SerializationException", f"the body is not JSON: {error}", 400) from error
    if not isinstance(body, dict):
        raise _unfit("", "structure")
    return body


def _structure(shape: StructureShape, value: Any, path: str) -> Params:
    if not isinstance(value, dict):
        raise _unfit(path, "structure")
    found = {}
    for name, member in shape.members.items():
        given = value.get(member.serialization.get("name", name))
        if given is not None:
            found[name] = _value(member, given, f"{path}.{name}" if path else name)
    return found


def _value(shape: Shape, value: Any, path: str) -> Any:
    if isinstance(shape, StructureShape):
        return value if shape.is_document_type else _structure(shape, value, path)
    if isinstance(shape, ListShape):
        if not isinstance(value, list):
            raise _unfit(path, "list")
        return [_value(shape.member, v, f"{path}.{i + 1}.member") for i, v in enumerate(value)]
    if isinstance(shape, MapShape):
        if not isinstance(value, dict):
            raise _unfit(path, "map")
        return {k: _value(shape.value, v, f"{path}.{k}") for k, v in value.items()}
    return _scalar(shape, value, path)


def _scalar(shape: Shape, value: Any, path: str) -> Any:
    kind = shape.type_name
    fits = {
        "string": isinstance(value, str),
        "character": isinstance(value, str),
        "boolean": isinstance(value, bool),
        "integer": isinstance(value, int) and not isinstance(value, bool),
        "long": isinstance(value, int) and not isinstance(value, bool),
        "float": isinstance(value, int | float) and not isinstance(value, bool),
        "double": isinstance(value, int | float) and not isinstance(value, bool),
        "timestamp": isinstance(value, int | float | str),
        "blob": isinstance(value, str),
    }
    if not fits.get(kind, True):
        raise _unfit(path, kind)
    if kind == "timestamp":
        return _timestamp(value, path)
    if kind == "blob":
        return _blob(value, path)
    return value


def _blob(value: str, path: str) -> bytes:
    try:
        return base64.b64decode(value, validate=True)
    except binascii.Error as error:
        raise _unfit(path, "blob") from error


def _timestamp(value: float | str, path: str) -> float:
    """Epoch seconds."""
    if isinstance(value, int | float):
        return float(value)
    try:
        return float(value)
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        try:
            moment = parsedate_to_datetime(value)
        except ValueError as error:
            raise _unfit(path, "timestamp") from error
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _text(shape: Shape, value: str, path: str) -> Any:
    """A scalar that came as text (path, query, header, form)."""
    kind = shape.type_name
    if kind == "boolean":
        if value.lower() not in ("true", "false"):
            raise _unfit(path, "boolean")
        return value.lower() == "true"
    if kind in ("integer", "long"):
        if not re.fullmatch(r"-?\d{1,19}", value):
            raise _unfit(path, kind)
        return int(value)
    if kind in ("float", "double"):
        try:
            return float(value)
        except ValueError as error:
            raise _unfit(path, kind) from error
    return _scalar(shape, value, path)


# query and ec2


def parse_query(operation: OperationModel, request: WireRequest, *, ec2: bool = False) -> Params:
    """Parameters of a query (or EC2) request."""
    shape = operation.input_shape
    if shape is None:
        return {}
    return _query_structure(shape, form_of(request), "", ec2)


def _query_name(name: str, member: Shape, ec2: bool) -> str:
    where = member.serialization
    if not ec2:
        return str(where.get("name", name))
    if "queryName" in where:
        return str(where["queryName"])
    wire = str(where.get("name", name))
    return wire[0].upper() + wire[1:]


def _query_structure(shape: StructureShape, form: dict[str, str], prefix: str, ec2: bool) -> Params:
    found = {}
    for name, member in shape.members.items():
        key = prefix + _query_name(name, member, ec2)
        value = _query_value(member, form, key, ec2)
        if value is not None:
            found[name] = value
    return found


def _query_value(shape: Shape, form: dict[str, str], key: str, ec2: bool) -> Any:
    if isinstance(shape, ListShape):
        return _query_list(shape, form, key, ec2)
    if isinstance(shape, MapShape):
        return _query_map(shape, form, key, ec2)
    if isinstance(shape, StructureShape):
        if not any(k.startswith(key + ".") for k in form):
            return None
        return _query_structure(shape, form, key + ".", ec2)
    return _text(shape, form[key], key) if key in form else None


def _numbers(form: dict[str, str], prefix: str) -> list[int]:
    found = {k[len(prefix) :].partition(".")[0] for k in form if k.startswith(prefix)}
    return sorted(int(n) for n in found if n.isdigit())


def _query_list(shape: ListShape, form: dict[str, str], key: str, ec2: bool) -> list[Any] | None:
    if ec2 or shape.serialization.get("flattened"):
        prefix = f"{key}."
    else:
        prefix = f"{key}.{shape.member.serialization.get('name', 'member')}."
    numbers = _numbers(form, prefix)
    if not numbers:
        return [] if form.get(key) == "" else None
    return [_query_value(shape.member, form, f"{prefix}{n}", ec2) for n in numbers]


def _query_map(shape: MapShape, form: dict[str, str], key: str, ec2: bool) -> dict[str, Any] | None:
    prefix = f"{key}." if shape.serialization.get("flattened") else f"{key}.entry."
    found = {}
    for n in _numbers(form, prefix):
        name = form.get(f"{prefix}{n}.{shape.key.serialization.get('name', 'key')}", "")
        found[name] = _query_value(
            shape.value, form, f"{prefix}{n}.{shape.value.serialization.get('name', 'value')}", ec2
        )
    return found or None


def parse(protocol: str, operation: OperationModel, request: WireRequest) -> Params:
    """Parameters of a request; AwsError SerializationException when they do not fit the shapes' types."""
    if protocol == "json":
        return parse_json(operation, request)
    if protocol == "rest-json":
        return parse_rest_json(operation, request)
    return parse_query(operation, request, ec2=protocol == "ec2")


def parse_rest_xml(operation: OperationModel, request: WireRequest) -> Params:
    """Labels and query members only: what the log shows of an S3 call."""
    found = match_route(operation.service_model.service_name, request)
    query = parse_qs(request.query_string, keep_blank_values=True)
    params: Params = dict(found[1]) if found else {}
    shape = operation.input_shape
    for name, member in (shape.members if shape else {}).items():
        wire = member.serialization.get("name", name)
        if member.serialization.get("location") == "querystring" and wire in query:
            params[name] = query[wire][-1]
    return params
