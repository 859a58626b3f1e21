"""Rows of operations: loaded into plain records, changed by the conductor, saved under its fencing number."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Row, delete, insert, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from instantstart.core.plan import Consent, StageSpec
from instantstart.core.problem import Problem
from instantstart.db.tables import attempt, lease, lock, operation, stage
from instantstart.operations.problems import LEASE_LOST

ACTIVE = ("awaiting_approval", "queued", "running", "waiting")


@dataclass
class StageRecord:
    """One stage row. `kept` holds client tokens, generated values and answers that a rerun must find again."""

    spec: StageSpec
    position: int
    state: str = "pending"
    attempts: int = 0
    message: str | None = None
    attention: str | None = None
    problem: Problem | None = None
    consent: Consent | None = None
    in_flight: dict[str, Any] | None = None
    outputs: dict[str, Any] = field(default_factory=dict)
    kept: dict[str, Any] = field(default_factory=dict)
    started_at: float | None = None
    ended_at: float | None = None
    waiting_since: float | None = None
    uncounted_seconds: float = 0.0

    @property
    def name(self) -> str:
        """The stage's name."""
        return self.spec.name

    def values(self) -> dict[str, Any]:
        """The row as columns."""
        return {
            "position": self.position,
            "spec": self.spec.model_dump(mode="json"),
            "state": self.state,
            "attempts": self.attempts,
            "message": self.message[:1000] if self.message else None,
            "attention": self.attention[:1000] if self.attention else None,
            "problem": self.problem.model_dump(mode="json") if self.problem else None,
            "consent": self.consent.model_dump(mode="json") if self.consent else None,
            "in_flight": self.in_flight,
            "outputs": self.outputs,
            "kept": self.kept,
            "started_at": self.started_at,
            "ended_at": self.ended_at,
            "waiting_since": self.waiting_since,
            "uncounted_seconds": self.uncounted_seconds,
        }


@dataclass
class OperationRecord:
    """One operation row with its stages in order."""

    row: dict[str, Any]
    stages: dict[str, StageRecord]

    @property
    def id(self) -> str:
        """The operation's id."""
        return str(self.row["id"])

    @property
    def state(self) -> str:
        """The operation's state."""
        return str(self.row["state"])


def _stage_record(row: Row[Any]) -> StageRecord:
    m = dict(row._mapping)
    return StageRecord(
        spec=StageSpec.model_validate(m["spec"]),
        problem=Problem.model_validate(m["problem"]) if m["problem"] else None,
        consent=Consent.model_validate(m["consent"]) if m["consent"] else None,
        **{
            k: m[k]
            for k in (
                "position",
                "state",
                "attempts",
                "message",
                "attention",
                "in_flight",
                "outputs",
                "kept",
                "started_at",
                "ended_at",
                "waiting_since",
                "uncounted_seconds",
            )
        },
    )


async def load(conn: AsyncConnection, operation_id: str) -> OperationRecord | None:
    """The operation with its stages, or None."""
    found = await load_many(conn, [operation_id])
    return found[0] if found else None


async def load_many(conn: AsyncConnection, ids: Iterable[str]) -> list[OperationRecord]:
    """Operations in the order of `ids`; unknown ids are left out."""
    ids = list(ids)
    rows = (await conn.execute(select(operation).where(operation.c.id.in_(ids)))).mappings().all()
    by_id = {r["id"]: OperationRecord(dict(r), {}) for r in rows}
    query = select(stage).where(stage.c.operation_id.in_(ids)).order_by(stage.c.position)
    for row in (await conn.execute(query)).all():
        by_id[row._mapping["operation_id"]].stages[row._mapping["name"]] = _stage_record(row)
    return [by_id[i] for i in ids if i in by_id]


async def insert_operation(conn: AsyncConnection, row: dict[str, Any], specs: list[StageSpec]) -> None:
    """Save a new operation, its stages and its lease row."""
    await conn.execute(insert(operation).values(**row))
    await insert_stages(conn, row["id"], [StageRecord(spec, i * 10) for i, spec in enumerate(specs)])
    await conn.execute(insert(lease).values(operation_id=row["id"], fence=0, expires_wall=0.0))


async def insert_stages(conn: AsyncConnection, operation_id: str, records: list[StageRecord]) -> None:
    """Save new stage rows."""
    rows = [{"operation_id": operation_id, "name": r.name, **r.values()} for r in records]
    if rows:
        await conn.execute(insert(stage), rows)


async def save_stage(conn: AsyncConnection, operation_id: str, record: StageRecord) -> None:
    """Save one stage row."""
    where = (stage.c.operation_id == operation_id) & (stage.c.name == record.name)
    await conn.execute(update(stage).where(where).values(**record.values()))


async def save_operation(conn: AsyncConnection, operation_id: str, **values: Any) -> None:
    """Change columns of an operation row."""
    await conn.execute(update(operation).where(operation.c.id == operation_id).values(**values))


async def check_fence(conn: AsyncConnection, operation_id: str, fence: int) -> None:
    """Raise `lease_lost` unless `fence` is still the newest fencing number."""
    held = (await conn.execute(select(lease.c.fence).where(lease.c.operation_id == operation_id))).scalar()
    if held != fence:
        raise LEASE_LOST(f"The lease of {operation_id} has passed on.", log=f"fence {fence}, held {held}")


async def active_operations(conn: AsyncConnection) -> list[str]:
    """Ids of operations that have not ended, oldest first."""
    query = select(operation.c.id).where(operation.c.state.in_(ACTIVE)).order_by(operation.c.created_at)
    return list((await conn.execute(query)).scalars())


async def candidates(conn: AsyncConnection, cluster: str | None, states: Iterable[str]) -> list[dict[str, Any]]:
    """Operation rows of a cluster (or of none) in the given states, newest first."""
    query = select(operation).where(operation.c.state.in_(list(states)))
    if cluster is not None:
        query = query.where(or_(operation.c.cluster == cluster, operation.c.cluster.is_(None)))
    rows = (await conn.execute(query.order_by(operation.c.created_at.desc()))).mappings().all()
    return [dict(r) for r in rows]


async def page(
    conn: AsyncConnection, *, cluster: str | None, state: str | None, kind: str | None, limit: int, before: str | None
) -> list[str]:
    """Ids of operations, newest first, below the id `before`."""
    query = select(operation.c.id).order_by(operation.c.id.desc()).limit(limit)
    if cluster is not None:
        query = query.where(operation.c.cluster == cluster)
    if state is not None:
        query = query.where(operation.c.state == state)
    if kind is not None:
        query = query.where(operation.c.kind == kind)
    if before is not None:
        query = query.where(operation.c.id < before)
    return list((await conn.execute(query)).scalars())


async def attempts_of(conn: AsyncConnection, operation_id: str) -> list[dict[str, Any]]:
    """Attempt rows of an operation, oldest first."""
    query = select(attempt).where(attempt.c.operation_id == operation_id).order_by(attempt.c.id)
    return [dict(r) for r in (await conn.execute(query)).mappings().all()]


async def add_attempt(conn: AsyncConnection, **values: Any) -> int:
    """Append an attempt row; returns its id."""
    result = await conn.execute(insert(attempt).values(**values))
    key = result.inserted_primary_key
    assert key is not None
    return int(key[0])


async def end_attempt(conn: AsyncConnection, attempt_id: int, **values: Any) -> None:
    """Say how an attempt ended."""
    await conn.execute(update(attempt).where(attempt.c.id == attempt_id).values(**values))


async def take_lock(conn: AsyncConnection, key: str, operation_id: str, stage_name: str) -> str | None:
    """Take a write lock; returns the id of the operation that holds it, or None when it is ours now."""
    held = (await conn.execute(select(lock).where(lock.c.key == key))).mappings().first()
    if held is None:
        await conn.execute(insert(lock).values(key=key, operation_id=operation_id, stage=stage_name))
        return None
    if held["operation_id"] == operation_id and held["stage"] == stage_name:
        return None
    return str(held["operation_id"])


async def release_locks(conn: AsyncConnection, operation_id: str, stage_name: str | None = None) -> None:
    """Release the locks of one stage, or of the whole operation."""
    where = lock.c.operation_id == operation_id
    if stage_name is not None:
        where &= lock.c.stage == stage_name
    await conn.execute(delete(lock).where(where))
