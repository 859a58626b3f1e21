"""How a slice declares a route: one table row that REST, OpenAPI, MCP and the tests all read.

A row says the operation's name (also the MCP tool's), who may call it, whether it reads, changes or destroys, which
problems it may answer, and which tools settle and verify it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from fastapi import APIRouter, Depends, Request

from instantstart.core.access import Caller, Role
from instantstart.core.problem import FORBIDDEN, UNAUTHENTICATED, Problem, ProblemKind
from instantstart.operations.schema import OperationView, PlanView, Unchanged

Kind = Literal["R", "M", "D"]
"""R reads, M changes state, D changes state and cannot be undone."""


@dataclass(frozen=True)
class RouteInfo:
    """One declared route."""

    name: str
    method: str
    path: str
    access: Role
    kind: Kind
    description: str
    tool: bool
    cluster_argument: Literal["none", "path", "optional"]
    settled_by: str | None
    verify_with: str | None
    problems: tuple[ProblemKind, ...]


ROUTES: dict[str, RouteInfo] = {}
"""Every declared route by name."""


def caller_of(request: Request) -> Caller:
    """The caller that the face put into the request; the 401 problem when there is none."""
    caller: Caller | None = getattr(request.state, "caller", None)
    if caller is None:
        raise UNAUTHENTICATED("This needs a login or a bearer token.")
    return caller


def _guard(access: Role) -> Callable[[Request], None]:
    def check(request: Request) -> None:
        caller_of(request).require(access)

    return check


def _responses(problems: Sequence[ProblemKind], mutating: bool) -> dict[int | str, dict[str, Any]]:
    by_status: dict[int | str, list[str]] = {}
    for kind in (UNAUTHENTICATED, FORBIDDEN, *problems):
        by_status.setdefault(kind.status, []).append(kind.code)
    out: dict[int | str, dict[str, Any]] = {
        status: {
            "description": ", ".join(sorted(set(codes))),
            "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
        }
        for status, codes in by_status.items()
    }
    if mutating:
        out[202] = {"model": OperationView, "description": "The operation was saved and has begun."}
    return out


class SliceRouter(APIRouter):
    """An APIRouter whose routes are declared as table rows."""

    def tool(
        self,
        method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"],
        path: str,
        *,
        name: str,
        access: Role,
        kind: Kind,
        answer: Any = None,
        tool: bool = True,
        cluster_argument: Literal["none", "path", "optional"] | None = None,
        settled_by: str | None = None,
        verify_with: str | None = None,
        problems: Sequence[ProblemKind] = (),
        status_code: int = 200,
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Declare a route. `answer` is the model of its 2xx answer; a change answers the operation, unchanged or plan.

        The handler's docstring is the description that OpenAPI and MCP show.
        """
        durable = settled_by == "operation_get_status"
        model = answer if answer is not None else (Unchanged | PlanView if durable else None)

        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            if name in ROUTES:
                raise ValueError(f"route {name} is declared twice")
            if kind != "R" and tool and settled_by is None:
                raise ValueError(f"{name} changes state and must say what settles it")
            description = (function.__doc__ or "").strip()
            where = cluster_argument or ("path" if "{cluster}" in path else "none")
            ROUTES[name] = RouteInfo(
                name, method, path, access, kind, description, tool, where, settled_by, verify_with, tuple(problems)
            )
            self.add_api_route(
                path,
                function,
                methods=[method],
                operation_id=name,
                name=name,
                response_model=model,
                status_code=status_code,
                dependencies=[Depends(_guard(access))],
                responses=_responses(problems, durable),
                description=description,
                openapi_extra={
                    "x-access": access,
                    "x-kind": kind,
                    "x-settled-by": settled_by,
                    "x-verify-with": verify_with,
                },
            )
            return function

        return register


def problem_schema() -> dict[str, Any]:
    """JSON schema of the problem object, for OpenAPI's components."""
    return Problem.model_json_schema(ref_template="#/components/schemas/{model}")
