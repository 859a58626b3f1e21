"""Turns whatever goes wrong into `application/problem+json`: our own errors, bad input, unknown paths, defects."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from instantstart.core.problem import (
    CATALOG,
    FORBIDDEN,
    INTERNAL,
    INVALID_REQUEST,
    METHOD_NOT_ALLOWED,
    NOT_FOUND,
    TOO_LARGE,
    UNSUPPORTED_MEDIA_TYPE,
    FieldError,
    Problem,
    ProblemError,
    define,
)

MEDIA_TYPE = "application/problem+json"
CLUSTER_REQUIRED = define(
    "cluster_required", 422, "Several clusters could be meant", "Name one of the clusters in data.clusters."
)
log = logging.getLogger(__name__)


def problem_response(problem: Problem, headers: Mapping[str, str] | None = None) -> Response:
    """The answer for one problem."""
    extra = dict(headers or {})
    if problem.status == 401:
        extra.setdefault("WWW-Authenticate", "Bearer")
    body = orjson.dumps(problem.model_dump(mode="json", exclude_none=True))
    return Response(body, status_code=problem.status, media_type=MEDIA_TYPE, headers=extra)


def field_errors(errors: Sequence[Mapping[str, Any]], body: Any) -> list[FieldError]:
    """Every bad field once, with its JSON pointer. `errors` are pydantic's, with `loc` starting with the place."""
    out: dict[tuple[str, str], FieldError] = {}
    for error in errors:
        kind = str(error["type"])
        pointer = _pointer(tuple(error["loc"]), kind, body)
        found = FieldError(field=pointer, code=kind, message=str(error["msg"]))
        out.setdefault((pointer, kind), found)
    return list(out.values())


def _pointer(loc: tuple[Any, ...], kind: str, body: Any) -> str:
    """JSON pointer for one location: names of union members, which stand in `loc` too, are left out."""
    place, path = (loc[0], loc[1:]) if loc else ("body", ())
    if kind == "json_invalid":
        return ""
    if place != "body":
        return "".join(f"/{_escape(part)}" for part in path)
    at, parts = body, []
    for number, part in enumerate(path):
        last = number == len(path) - 1
        if (isinstance(at, dict) and part in at) or (isinstance(at, list) and isinstance(part, int) and part < len(at)):
            at = at[part]
        elif not (last and kind == "missing"):
            continue
        parts.append(f"/{_escape(part)}")
    return "".join(parts)


def _escape(part: Any) -> str:
    return str(part).replace("~", "~0").replace("/", "~1")


def invalid(errors: Sequence[FieldError]) -> ProblemError:
    """The 422 problem for these bad fields."""
    names = ", ".join(dict.fromkeys(e.field or "the body" for e in errors))
    return INVALID_REQUEST(f"Not valid: {names}.", errors=list(errors))


_BY_STATUS = {
    403: FORBIDDEN,
    404: NOT_FOUND,
    405: METHOD_NOT_ALLOWED,
    413: TOO_LARGE,
    415: UNSUPPORTED_MEDIA_TYPE,
}


async def _on_problem(_request: Request, error: Exception) -> Response:
    assert isinstance(error, ProblemError)
    if error.log:
        log.info("problem %s: %s", error.code, error.log)
    return problem_response(error.problem)


async def _on_invalid(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return problem_response(invalid(field_errors(error.errors(), error.body)).problem)


async def _on_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    kind = _BY_STATUS.get(error.status_code)
    if kind is None:
        kind = INVALID_REQUEST if error.status_code < 500 else INTERNAL
    detail = f"{request.method} {request.url.path}" if error.status_code in (404, 405) else str(error.detail)
    return problem_response(kind(detail).problem, error.headers)


async def _on_defect(request: Request, error: Exception) -> Response:
    log.error("defect in %s %s", request.method, request.url.path, exc_info=error)
    return problem_response(
        INTERNAL("This is a defect of the service; nothing of it is known to be your doing.").problem
    )


def install(app: FastAPI) -> None:
    """Register the handlers."""
    app.add_exception_handler(ProblemError, _on_problem)
    app.add_exception_handler(RequestValidationError, _on_invalid)
    app.add_exception_handler(HTTPException, _on_http)
    app.add_exception_handler(Exception, _on_defect)


def catalog() -> list[str]:
    """Codes of every problem that this build can answer."""
    return sorted(CATALOG)
