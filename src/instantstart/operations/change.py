"""The straight line of one change: idempotency, same request, plan, blocking findings, durable operation, answer."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Awaitable, Callable
from typing import Any

import orjson
from fastapi import Request
from fastapi.responses import JSONResponse, Response
from sqlalchemy import delete, insert, select
from sqlalchemy.exc import IntegrityError

from instantstart.core.access import Caller
from instantstart.core.plan import Finding, Plan, critical_path_seconds
from instantstart.core.problem import CATALOG, INVALID_REQUEST, PRECONDITION_FAILED, FieldError, ProblemError
from instantstart.db.tables import idempotency
from instantstart.operations.engine import Engine
from instantstart.operations.problems import IDEMPOTENCY_KEY_REUSED, PREFLIGHT_FAILED
from instantstart.operations.routing import caller_of
from instantstart.operations.schema import OperationView, PlanView, Unchanged
from instantstart.operations.submit import Wish

KEY_SECONDS = 24 * 3600.0
Planner = Callable[[], Awaitable[Plan]]
EtagReader = Callable[[], Awaitable[str]]


async def change(
    request: Request, wish: Wish, planner: Planner, *, dry_run: bool = False, etag: EtagReader | None = None
) -> Response:
    """Answer a request for a change: 202 operation, 200 unchanged, 200 plan (dry run), or a problem.

    `planner` observes and plans; it is called once, and not at all when the answer is known already. `etag` reads the
    revision that If-Match is compared with.
    """
    engine: Engine = request.app.state.engine
    caller = caller_of(request)
    if dry_run:
        return await _dry_run(engine, wish, planner)
    key = _key(request)
    if key is not None and (kept := await _replay(engine, caller, wish, key)) is not None:
        return kept
    await check_if_match(request, etag)
    view = await engine.standing(wish)
    if view is None:
        plan = await planner()
        refuse_if_blocked(plan.findings)
        if not plan.stages:
            unchanged = Unchanged(cluster=wish.cluster, summary=plan.summary, verify_with=wish.verify_with)
            await _keep(engine, caller, wish, key, 200, answer=unchanged.model_dump(mode="json"))
            return JSONResponse(unchanged.model_dump(mode="json"))
        view = await engine.submit(wish, plan, caller)
    await _keep(engine, caller, wish, key, 202, operation_id=view.id)
    return accepted(view)


def accepted(view: OperationView) -> Response:
    """The 202 answer with the operation's place."""
    headers = {"Location": f"/api/v1/operations/{view.id}", "ETag": f'"{view.revision}"'}
    return JSONResponse(view.model_dump(mode="json"), status_code=202, headers=headers)


async def check_if_match(request: Request, etag: EtagReader | None) -> None:
    """412 when the request names a revision that is no longer the present one."""
    wanted = request.headers.get("if-match")
    if wanted is None or etag is None or wanted.strip() == "*":
        return
    present = await etag()
    if present not in {w.strip().removeprefix("W/").strip('"') for w in wanted.split(",")}:
        raise PRECONDITION_FAILED(
            f"You looked at revision {wanted.strip()}; now it is {present}.", data={"etag": present}
        )


def refuse_if_blocked(findings: list[Finding]) -> None:
    """Raise one problem that names every blocking finding: its own kind when all are conflicts, else 422."""
    blocking = [f for f in findings if f.severity == "blocking"]
    if not blocking:
        return
    errors = [FieldError(field=f.field or "", code=f.code, message=f.detail) for f in blocking]
    data = {"findings": [f.model_dump(mode="json") for f in findings]}
    kinds = [CATALOG.get(f.code) for f in blocking]
    conflict = next((k for k in kinds if k and k.status == 409), None)
    if conflict is not None and all(k and k.status == 409 for k in kinds):
        raise conflict(blocking[0].detail, remedy=blocking[0].remedy, errors=errors, data=data)
    detail = " ".join(f.detail for f in blocking)
    remedy = " ".join(dict.fromkeys(f.remedy for f in blocking if f.remedy)) or None
    raise PREFLIGHT_FAILED(detail, remedy=remedy, errors=errors, data=data)


async def _dry_run(engine: Engine, wish: Wish, planner: Planner) -> Response:
    plan = await planner()
    findings = list(plan.findings)
    try:
        await engine.standing(wish)
    except ProblemError as error:
        p = error.problem
        findings.append(
            Finding(code=p.code, severity="blocking", title=p.title, detail=p.detail, remedy=p.remedy, evidence=p.data)
        )
    blocked = any(f.severity == "blocking" for f in findings)
    data = plan.model_dump() | {"findings": findings, "typical_seconds": critical_path_seconds(plan.stages)}
    view = PlanView(**data, can_start=not blocked, verify_with=wish.verify_with)
    return JSONResponse(view.model_dump(mode="json"))


def _key(request: Request) -> str | None:
    key = request.headers.get("idempotency-key")
    if key is not None and not 1 <= len(key) <= 200:
        error = FieldError(field="/headers/Idempotency-Key", code="length", message="1 to 200 characters")
        raise INVALID_REQUEST("The idempotency key must have 1 to 200 characters.", errors=[error])
    return key


def _body_hash(wish: Wish) -> str:
    return hashlib.sha256(orjson.dumps([wish.kind, wish.digest])).hexdigest()


async def _replay(engine: Engine, caller: Caller, wish: Wish, key: str) -> Response | None:
    t = idempotency.c
    query = select(idempotency).where((t.principal == caller.principal) & (t.route == wish.kind) & (t.key == key))
    async with engine.services.db.read() as conn:
        row = (await conn.execute(query)).mappings().first()
    if row is None or row["expires_wall"] < time.time():
        return None
    if row["body_hash"] != _body_hash(wish):
        raise IDEMPOTENCY_KEY_REUSED(f"The key {key!r} was used for another {wish.kind} request.")
    if row["operation_id"] is not None:
        return accepted(await engine.view(row["operation_id"]))
    return JSONResponse(row["answer"], status_code=row["status"])


async def _keep(engine: Engine, caller: Caller, wish: Wish, key: str | None, status: int, **what: Any) -> None:
    if key is None:
        return
    t = idempotency.c
    mine = (t.principal == caller.principal) & (t.route == wish.kind) & (t.key == key)
    values = {"principal": caller.principal, "route": wish.kind, "key": key, "body_hash": _body_hash(wish)}
    try:
        async with engine.services.db.write() as conn:
            await conn.execute(delete(idempotency).where((t.expires_wall < time.time()) & mine))
            expires = time.time() + KEY_SECONDS
            await conn.execute(insert(idempotency).values(**values, status=status, expires_wall=expires, **what))
    except IntegrityError:
        return
