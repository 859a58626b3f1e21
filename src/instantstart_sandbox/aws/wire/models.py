"""Service models and which operation a request asks for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qsl, unquote

from botocore.exceptions import DataNotFoundError, UnknownServiceError
from botocore.loaders import Loader
from botocore.model import OperationModel, ServiceModel

from instantstart_sandbox.aws.messages import WireRequest

_NAMES = {
    "servicequotas": "service-quotas",
    "monitoring": "cloudwatch",
    "elasticloadbalancing": "elbv2",
    "tagging": "resourcegroupstaggingapi",
    "aps": "amp",
}
"""Signing names that differ from botocore's service names."""
CBOR = "rpc-v2-cbor"


@lru_cache(maxsize=64)
def service_model(service: str) -> ServiceModel | None:
    """The model of a service by its botocore name; None when botocore knows no such service."""
    try:
        return ServiceModel(Loader().load_service_model(service, "service-2"), service_name=service)
    except (UnknownServiceError, DataNotFoundError):
        return None


def botocore_name(signing_name: str) -> str:
    """The botocore service name for the name in a signature."""
    return _NAMES.get(signing_name, signing_name)


def protocol_of(model: ServiceModel, request: WireRequest | None = None) -> str:
    """The protocol of a request, else the one in which botocore speaks with the service."""
    if request is not None and request.headers.get("smithy-protocol") == CBOR:
        return CBOR
    return str(model.resolved_protocol)


@dataclass(frozen=True)
class Route:
    """A REST operation: path pattern, constant query words, and query or header members that must be there."""

    operation: str
    method: str
    pattern: re.Pattern[str]
    labels: tuple[str, ...]
    constants: tuple[tuple[str, str], ...]
    queries: tuple[str, ...]
    headers: tuple[str, ...]
    weight: int


def _pattern(path: str) -> tuple[re.Pattern[str], tuple[str, ...]]:
    labels: list[str] = []
    text = ""
    for part in re.split(r"(\{[^}]+\})", path):
        if part.startswith("{"):
            name = part[1:-1]
            labels.append(name.rstrip("+"))
            text += "(.+)" if name.endswith("+") else "([^/]+)"
        else:
            text += re.escape(part)
    return re.compile(text + "/?"), tuple(labels)


def _route(model: ServiceModel, name: str) -> Route:
    operation = model.operation_model(name)
    path, _, query = operation.http["requestUri"].partition("?")
    pattern, labels = _pattern(path)
    constants = tuple(parse_qsl(query, keep_blank_values=True))
    shape = operation.input_shape
    queries, headers = [], []
    for member in (shape.required_members if shape else []) or []:
        where = shape.members[member].serialization
        if where.get("location") == "querystring":
            queries.append(where["name"])
        elif where.get("location") == "header":
            headers.append(where["name"].lower())
    literal = len(re.sub(r"\{[^}]+\}", "", path))
    weight = 1000 * len(constants) + 100 * (len(queries) + len(headers)) + literal
    return Route(name, operation.http["method"], pattern, labels, constants, tuple(queries), tuple(headers), weight)


@lru_cache(maxsize=16)
def _routes(service: str) -> list[Route]:
    model = service_model(service)
    found = [_route(model, name) for name in model.operation_names] if model else []
    return sorted(found, key=lambda r: -r.weight)


def match_route(service: str, request: WireRequest) -> tuple[Route, dict[str, str]] | None:
    """The REST operation a request asks for, with the labels of its path (decoded)."""
    given = dict(parse_qsl(request.query_string, keep_blank_values=True))
    for route in _routes(service):
        if route.method != request.method or not all(given.get(k) == v for k, v in route.constants):
            continue
        if not all(q in given for q in route.queries) or not all(h in request.headers for h in route.headers):
            continue
        match = route.pattern.fullmatch(request.path)
        if match:
            return route, {k: unquote(v) for k, v in zip(route.labels, match.groups(), strict=True)}
    return None


def form_of(request: WireRequest) -> dict[str, str]:
    """The fields of a query-protocol request, from query string and body."""
    fields = dict(parse_qsl(request.query_string, keep_blank_values=True))
    if "json" not in request.headers.get("content-type", ""):
        fields.update(parse_qsl(request.body.decode("utf-8", "replace"), keep_blank_values=True))
    return fields


def operation_name(model: ServiceModel, request: WireRequest) -> str:
    """The operation a request asks for; "" when it cannot be told."""
    protocol = protocol_of(model, request)
    if protocol == "json":
        return request.headers.get("x-amz-target", "").rpartition(".")[2]
    if protocol in ("query", "ec2"):
        return form_of(request).get("Action", "")
    if protocol == CBOR:
        return request.path.rpartition("/operation/")[2]
    found = match_route(model.service_name, request)
    return found[0].operation if found else ""


def operation_model(model: ServiceModel, name: str) -> OperationModel | None:
    """The operation's model, None when the service has no such operation."""
    return model.operation_model(name) if name in model.operation_names else None


def is_read(operation: str) -> bool:
    """Whether an operation only reads, told by its name."""
    words = ("Describe", "List", "Get", "BatchGet", "Search", "Head", "Select", "Simulate", "Validate", "Lookup")
    return operation.startswith((*words, "Filter", "Estimate", "Detect", "Query", "Scan", "Check"))


def error_shape(model: ServiceModel, code: str) -> Any:
    """The shape of a modelled error, None for the common ones."""
    for shape in model.error_shapes:
        if code in (shape.name, shape.metadata.get("error", {}).get("code")):
            return shape
    return None
