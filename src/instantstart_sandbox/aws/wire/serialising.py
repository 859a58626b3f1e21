"""Answers and errors in the wire format of each protocol. An answer with a member its shape lacks is our own fault."""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from email.utils import formatdate
from typing import Any
from xml.sax.saxutils import escape

import orjson
from botocore.model import ListShape, MapShape, OperationModel, ServiceModel, Shape, StructureShape

from instantstart_sandbox.aws.errors import AwsError
from instantstart_sandbox.aws.messages import WireRequest, WireResponse
from instantstart_sandbox.aws.wire import cbor
from instantstart_sandbox.aws.wire.models import CBOR, error_shape, protocol_of


class BadAnswer(TypeError):  # noqa: N818 - it reads as what it says
    """A handler answered something that its operation's output shape does not have."""


def answer(operation: OperationModel, result: dict[str, Any], request_id: str) -> WireResponse:
    """A successful answer."""
    protocol = protocol_of(operation.service_model)
    if protocol == "query":
        return _query_answer(operation, result, request_id)
    shape = operation.output_shape
    body = _json(shape, result, operation.name) if shape else {}
    version = operation.service_model.metadata.get("jsonVersion", "1.1")
    kind = "application/json" if protocol == "rest-json" else f"application/x-amz-json-{version}"
    status = int(operation.http.get("responseCode", 200))
    return WireResponse(status, _headers(kind, request_id), orjson.dumps(body))


def _headers(kind: str, request_id: str) -> dict[str, str]:
    return {"content-type": kind, "x-amzn-requestid": request_id}


def _json(shape: Shape, value: Any, path: str) -> Any:
    if isinstance(shape, StructureShape):
        if shape.is_document_type:
            return value
        unknown = set(value) - set(shape.members)
        if unknown:
            raise BadAnswer(f"{path} has no members {sorted(unknown)}")
        return {
            member.serialization.get("name", name): _json(member, value[name], f"{path}.{name}")
            for name, member in shape.members.items()
            if value.get(name) is not None
        }
    if isinstance(shape, ListShape):
        return [_json(shape.member, v, path) for v in value]
    if isinstance(shape, MapShape):
        return {k: _json(shape.value, v, path) for k, v in value.items()}
    if shape.type_name == "timestamp":
        return _time(shape.serialization.get("timestampFormat", "unixTimestamp"), value)
    if shape.type_name == "blob":
        return base64.b64encode(value).decode()
    return value


def _time(form: str, value: float) -> Any:
    if form == "unixTimestamp":
        return round(value, 3)
    if form == "rfc822":
        return formatdate(value, usegmt=True)
    return datetime.fromtimestamp(value, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def _query_answer(operation: OperationModel, result: dict[str, Any], request_id: str) -> WireResponse:
    shape = operation.output_shape
    inner = ""
    if shape is not None:
        wrapper = shape.serialization.get("resultWrapper", f"{operation.name}Result")
        inner = f"<{wrapper}>{_xml_members(shape, result, operation.name)}</{wrapper}>"
    space = operation.service_model.metadata.get("xmlNamespace", "")
    body = (
        f'<{operation.name}Response xmlns="{space}">{inner}'
        f"<ResponseMetadata><RequestId>{request_id}</RequestId></ResponseMetadata></{operation.name}Response>"
    )
    return WireResponse(200, _headers("text/xml", request_id), body.encode())


def _xml_members(shape: StructureShape, value: dict[str, Any], path: str) -> str:
    unknown = set(value) - set(shape.members)
    if unknown:
        raise BadAnswer(f"{path} has no members {sorted(unknown)}")
    return "".join(
        _xml(member, value[name], member.serialization.get("name", name), f"{path}.{name}")
        for name, member in shape.members.items()
        if value.get(name) is not None
    )


def _xml(shape: Shape, value: Any, tag: str, path: str) -> str:
    if isinstance(shape, StructureShape):
        return f"<{tag}>{_xml_members(shape, value, path)}</{tag}>"
    if isinstance(shape, ListShape):
        if shape.serialization.get("flattened"):
            return "".join(_xml(shape.member, v, tag, path) for v in value)
        item = shape.member.serialization.get("name", "member")
        return f"<{tag}>{''.join(_xml(shape.member, v, item, path) for v in value)}</{tag}>"
    if isinstance(shape, MapShape):
        key, held = shape.key.serialization.get("name", "key"), shape.value.serialization.get("name", "value")
        rows = (
            f"<entry><{key}>{escape(str(k))}</{key}>{_xml(shape.value, v, held, path)}</entry>"
            for k, v in value.items()
        )
        return f"<{tag}>{''.join(rows)}</{tag}>"
    return f"<{tag}>{escape(_plain(shape, value))}</{tag}>"


def _plain(shape: Shape, value: Any) -> str:
    if shape.type_name == "boolean":
        return "true" if value else "false"
    if shape.type_name == "timestamp":
        return str(_time(shape.serialization.get("timestampFormat", "iso8601"), value))
    return base64.b64encode(value).decode() if shape.type_name == "blob" else str(value)


def failure(model: ServiceModel | None, error: AwsError, request_id: str, request: WireRequest) -> WireResponse:
    """An error in the shape of the request's protocol (JSON when there is no such service)."""
    protocol = protocol_of(model, request) if model is not None else "json"
    shape = error_shape(model, error.code) if model is not None else None
    status = error.status or (shape.metadata.get("error", {}).get("httpStatusCode") if shape else None) or 400
    if protocol == "query":
        return _query_failure(model, error, status, request_id)
    if protocol == "ec2":
        inner = f"<Code>{escape(error.code)}</Code><Message>{escape(error.message)}</Message>"
        text = f"<Response><Errors><Error>{inner}</Error></Errors><RequestID>{request_id}</RequestID></Response>"
        return WireResponse(status, _headers("text/xml;charset=UTF-8", request_id), text.encode())
    if protocol == "rest-xml":
        inner = f"<Code>{escape(error.code)}</Code><Message>{escape(error.message)}</Message>"
        text = "" if request.method == "HEAD" else f"<Error>{inner}<RequestId>{request_id}</RequestId></Error>"
        headers = {**_headers("application/xml", request_id), "x-amz-request-id": request_id}
        return WireResponse(status, headers, text.encode())
    if protocol == CBOR:
        body = cbor.encode({"__type": error.code, "message": error.message})
        return WireResponse(status, {**_headers("application/cbor", request_id), "smithy-protocol": CBOR}, body)
    return _json_failure(protocol, error, shape, status, request_id)


def _json_failure(protocol: str, error: AwsError, shape: Any, status: int, request_id: str) -> WireResponse:
    says = "Message" if shape is not None and "Message" in shape.members else "message"
    body = {says: error.message, **error.fields}
    if protocol == "rest-json":
        headers = {**_headers("application/json", request_id), "x-amzn-errortype": error.code}
        return WireResponse(status, headers, orjson.dumps(body))
    headers = _headers("application/x-amz-json-1.1", request_id)
    return WireResponse(status, headers, orjson.dumps({"__type": error.code, **body}))


def _query_failure(model: ServiceModel | None, error: AwsError, status: int, request_id: str) -> WireResponse:
    space = model.metadata.get("xmlNamespace", "") if model is not None else ""
    side = "Receiver" if status >= 500 else "Sender"
    inner = f"<Type>{side}</Type><Code>{escape(error.code)}</Code><Message>{escape(error.message)}</Message>"
    text = f'<ErrorResponse xmlns="{space}"><Error>{inner}</Error><RequestId>{request_id}</RequestId></ErrorResponse>'
    return WireResponse(status, _headers("text/xml", request_id), text.encode())
