"""The OpenAPI document: FastAPI's, with our problem object wherever an error is described."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from instantstart import __version__
from instantstart.operations.routing import ROUTES, problem_schema

_PROBLEM = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "The same key with the same body answers the first answer again, for 24 hours.",
    "schema": {"type": "string", "maxLength": 200},
}
_EVERYWHERE = {"403": "forbidden, forbidden_host, forbidden_origin", "500": "internal"}


def document(app: FastAPI) -> dict[str, Any]:
    """The document, made once per app."""
    if app.openapi_schema is None:
        schema = get_openapi(
            title="InstantStart",
            version=__version__,
            summary="Control plane for foundation-model work on AWS.",
            routes=app.routes,
        )
        _describe(schema)
        app.openapi_schema = schema
    return app.openapi_schema


def _describe(schema: dict[str, Any]) -> None:
    components = schema.setdefault("components", {}).setdefault("schemas", {})
    problem = problem_schema()
    components.update(problem.pop("$defs", {}))
    components["Problem"] = problem
    for unused in ("HTTPValidationError", "ValidationError"):
        components.pop(unused, None)
    components_schemes = schema["components"].setdefault("securitySchemes", {})
    components_schemes["bearer"] = {"type": "http", "scheme": "bearer"}
    for path in schema["paths"].values():
        for method, operation in path.items():
            _complete(operation, method)


def _complete(operation: dict[str, Any], method: str) -> None:
    """Declare on one operation what every answer of its kind can be."""
    responses: dict[str, Any] = operation["responses"]
    info = ROUTES.get(operation.get("operationId", ""))
    taken = bool(operation.get("parameters") or operation.get("requestBody"))
    wanted = dict(_EVERYWHERE)
    if taken:
        wanted["422"] = "invalid_request"
    if method in ("post", "put", "patch"):
        wanted |= {"413": "too_large", "415": "unsupported_media_type"}
    for status, codes in wanted.items():
        known = responses.get(status, {}).get("description", "")
        if status == "422" and known == "Validation Error":
            known = ""
        both = dict.fromkeys([*(c for c in known.split(", ") if c), *codes.split(", ")])
        responses[status] = {"description": ", ".join(both), "content": _PROBLEM}
    for status, answer in responses.items():
        if int(status) >= 400:
            answer["content"] = _PROBLEM
    if operation.get("x-access") != "anonymous":
        operation["security"] = [{"bearer": []}]
    if info is not None and info.settled_by == "operation_get_status" and method != "get":
        names = {p["name"].lower() for p in operation.get("parameters", [])}
        if "idempotency-key" not in names:
            operation.setdefault("parameters", []).append(_KEY)
