"""How an operation ended: its state, its problem, what goes on outside, and the journal's last entry."""

from __future__ import annotations

from typing import Any

from sqlalchemy import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from instantstart.core.plan import Plan
from instantstart.core.problem import Problem
from instantstart.db.tables import journal
from instantstart.operations import store
from instantstart.operations.schema import STAGE_DONE
from instantstart.operations.store import OperationRecord


def ending(record: OperationRecord) -> tuple[str, Problem | None]:
    """State and problem of an operation in which nothing runs any more."""
    stages = record.stages.values()
    if all(s.state in STAGE_DONE for s in stages):
        return "succeeded", None
    failed = [s for s in stages if s.state == "failed"]
    if failed:
        first = min(failed, key=lambda s: s.ended_at or 0.0)
        return "failed", first.problem
    return "cancelled", None


def left_behind(record: OperationRecord) -> list[dict[str, Any]]:
    """What AWS or Kubernetes goes on doing after a cancel, with the commands that undo it."""
    found: list[dict[str, Any]] = []
    for stage in record.stages.values():
        if not stage.in_flight or stage.in_flight in found:
            continue
        awaited = [s for s in record.stages.values() if stage.name in s.spec.needs]
        if stage.state not in STAGE_DONE or any(s.state not in STAGE_DONE for s in awaited):
            found.append(stage.in_flight)
    return found


def _journal_row(row: dict[str, Any], at: float, entry: str) -> dict[str, Any]:
    return {
        "at": at,
        "principal": row["principal"],
        "requested_by": row["requested_by"],
        "face": row["face"],
        "kind": row["kind"],
        "cluster": row["cluster"],
        "operation_id": row["id"],
        "entry": entry,
    }


async def record_request(conn: AsyncConnection, row: dict[str, Any], plan: Plan, at: float) -> None:
    """Journal: who asked for what, through which face, and what it changes."""
    diff = [c.model_dump(mode="json") for c in plan.changes]
    diff += [{"object": f"{o.kind} {o.name}", "action": o.action} for o in plan.objects if o.action != "keep"]
    await conn.execute(insert(journal).values(**_journal_row(row, at, "requested"), diff=diff))


async def record_ending(conn: AsyncConnection, record: OperationRecord, at: float) -> None:
    """Journal: the outcome, with the AWS request ids of every call that was sent."""
    ids = [i for a in await store.attempts_of(conn, record.id) for i in a["request_ids"]]
    row = _journal_row(record.row, at, "ended")
    await conn.execute(insert(journal).values(**row, request_ids=ids, outcome=record.state))
