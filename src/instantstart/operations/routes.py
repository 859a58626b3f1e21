"""Routes of operations: look, wait, retry, cancel."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request, Response

from instantstart.core.problem import PRECONDITION_FAILED
from instantstart.operations.change import accepted, check_if_match
from instantstart.operations.engine import Engine
from instantstart.operations.problems import (
    CONSENT_REQUIRED,
    NOT_CANCELLABLE,
    NOT_RETRYABLE,
    OPERATION_NOT_FOUND,
    STAGE_NOT_FOUND,
)
from instantstart.operations.routing import SliceRouter
from instantstart.operations.schema import OperationList, OperationState, OperationView, OperationWaited, RetryRequest

router = SliceRouter(tags=["operations"])


def _engine(request: Request) -> Engine:
    engine: Engine = request.app.state.engine
    return engine


@router.tool("GET", "/operations", name="operation_list", access="viewer", kind="R", answer=OperationList, tool=False)
async def operation_list(
    request: Request,
    cluster: Annotated[str | None, Query(description="Only this cluster's.")] = None,
    state: Annotated[OperationState | None, Query(description="Only those in this state.")] = None,
    kind: Annotated[str | None, Query(description="Only those of this kind.")] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cursor: Annotated[str | None, Query(description="`next_cursor` of the page before.")] = None,
) -> OperationList:
    """List operations, newest first."""
    return await _engine(request).page(cluster=cluster, state=state, kind=kind, limit=limit, cursor=cursor)


@router.tool(
    "GET",
    "/operations/{operation_id}",
    name="operation_get_status",
    access="viewer",
    kind="R",
    answer=OperationView,
    problems=[OPERATION_NOT_FOUND],
)
async def operation_get_status(request: Request, response: Response, operation_id: str) -> OperationView:
    """One operation: its state, stages with times, what needs attention, the problem and its remedy."""
    view = await _engine(request).view(operation_id)
    response.headers["ETag"] = f'"{view.revision}"'
    return view


@router.tool(
    "GET",
    "/operations/{operation_id}/wait",
    name="operation_wait",
    access="viewer",
    kind="R",
    answer=OperationWaited,
    problems=[OPERATION_NOT_FOUND],
)
async def operation_wait(
    request: Request,
    operation_id: str,
    timeout_seconds: Annotated[float, Query(ge=0, le=300, description="Wall seconds to wait at most.")] = 50,
) -> OperationWaited:
    """Wait until the operation ends or something new needs attention, or the time is over."""
    return await _engine(request).wait(operation_id, timeout_seconds)


@router.tool(
    "POST",
    "/operations/{operation_id}/retry",
    name="operation_retry",
    access="operator",
    kind="M",
    answer=OperationView,
    settled_by="operation_get_status",
    verify_with="operation_get_status",
    problems=[OPERATION_NOT_FOUND, STAGE_NOT_FOUND, NOT_RETRYABLE, CONSENT_REQUIRED, PRECONDITION_FAILED],
    status_code=202,
)
async def operation_retry(request: Request, operation_id: str, body: RetryRequest | None = None) -> Response:
    """Retry the failed stage of an operation and go on; what succeeded stays as it is."""
    engine = _engine(request)
    await check_if_match(request, lambda: _revision(engine, operation_id))
    return accepted(await engine.retry(operation_id, body or RetryRequest()))


@router.tool(
    "POST",
    "/operations/{operation_id}/cancel",
    name="operation_cancel",
    access="operator",
    kind="M",
    answer=OperationView,
    tool=False,
    settled_by="operation_get_status",
    verify_with="operation_get_status",
    problems=[OPERATION_NOT_FOUND, NOT_CANCELLABLE, PRECONDITION_FAILED],
    status_code=202,
)
async def operation_cancel(request: Request, operation_id: str) -> Response:
    """Stop sending; what AWS goes on doing by itself is listed with the command that undoes it."""
    engine = _engine(request)
    await check_if_match(request, lambda: _revision(engine, operation_id))
    return accepted(await engine.cancel(operation_id))


async def _revision(engine: Engine, operation_id: str) -> str:
    return str((await engine.record(operation_id)).row["revision"])
