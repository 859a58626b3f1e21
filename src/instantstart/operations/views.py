"""Records to views: what people and agents are shown of an operation. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from instantstart.core.problem import Problem
from instantstart.core.redaction import redact
from instantstart.operations.schema import (
    STAGE_DONE,
    TERMINAL,
    AttemptView,
    InFlight,
    OperationSummary,
    OperationView,
    Progress,
    StageView,
)
from instantstart.operations.store import OperationRecord, StageRecord


def moment(at: float | None) -> datetime | None:
    """Epoch seconds as an aware UTC datetime."""
    return None if at is None else datetime.fromtimestamp(at, UTC)


def _surely(at: float) -> datetime:
    return datetime.fromtimestamp(at, UTC)


def attempt_view(row: dict[str, Any]) -> AttemptView:
    """One attempt row as a view."""
    return AttemptView(
        number=row["number"],
        effect=row["effect"],
        state=row["state"],
        started_at=_surely(row["started_at"]),
        ended_at=moment(row["ended_at"]),
        request_ids=row["request_ids"],
        problem=Problem.model_validate(row["problem"]) if row["problem"] else None,
    )


def stage_view(record: StageRecord, attempts: Iterable[dict[str, Any]] = ()) -> StageView:
    """One stage as a view."""
    spec = record.spec
    return StageView(
        name=spec.name,
        step=spec.step,
        title=spec.title,
        needs=spec.needs,
        state=record.state,
        attempts=record.attempts,
        typical_seconds=spec.typical_seconds,
        started_at=moment(record.started_at),
        ended_at=moment(record.ended_at),
        message=record.message,
        attention=record.attention,
        problem=record.problem,
        outputs=redact(record.outputs),
        retry_needs_consent=record.consent.objects if record.consent else [],
        history=[attempt_view(a) for a in attempts],
    )


def _left(record: StageRecord, now: float) -> float:
    """Typical seconds left in this stage."""
    if record.state in STAGE_DONE:
        return 0.0
    if record.state in ("running", "waiting") and record.started_at is not None:
        return max(record.spec.typical_seconds - (now - record.started_at), 0.05 * record.spec.typical_seconds)
    return float(record.spec.typical_seconds)


def _remaining(stages: dict[str, StageRecord], now: float) -> int:
    memo: dict[str, float] = {}

    def path(name: str) -> float:
        if name not in memo:
            memo[name] = 0.0
            needs = [n for n in stages[name].spec.needs if n in stages]
            memo[name] = max((path(n) for n in needs), default=0.0) + _left(stages[name], now)
        return memo[name]

    return round(max((path(n) for n in stages), default=0.0))


def progress(op: OperationRecord, now: float) -> Progress:
    """How far an operation is, by typical durations."""
    stages = list(op.stages.values())
    total = sum(s.spec.typical_seconds for s in stages) or 1
    left = sum(_left(s, now) for s in stages)
    ended = op.state in TERMINAL
    working = next((s.spec.step for s in stages if s.state in ("running", "waiting")), None)
    percent = 100 if op.state == "succeeded" else min(99, int(100 * (total - left) / total))
    return Progress(
        done=sum(s.state in STAGE_DONE for s in stages),
        total=len(stages),
        percent=max(0, percent),
        remaining_seconds=None if ended else _remaining(op.stages, now),
        step=working,
    )


def attention_of(op: OperationRecord) -> list[str]:
    """What a person should know now, over all stages."""
    return [s.attention for s in op.stages.values() if s.attention and s.state == "waiting"]


def _common(op: OperationRecord, now: float) -> dict[str, Any]:
    row = op.row
    return {
        "id": op.id,
        "kind": row["kind"],
        "cluster": row["cluster"],
        "title": row["title"],
        "state": op.state,
        "terminal": op.state in TERMINAL,
        "revision": row["revision"],
        "problem": Problem.model_validate(row["problem"]) if row["problem"] else None,
        "attention": attention_of(op),
        "progress": progress(op, now),
        "requested_by": row["requested_by"],
        "face": row["face"],
        "created_at": moment(row["created_at"]),
        "ended_at": moment(row["ended_at"]),
    }


def operation_view(op: OperationRecord, attempts: list[dict[str, Any]], now: float) -> OperationView:
    """One operation as a view; `attempts` are its attempt rows, oldest first."""
    by_stage: dict[str, list[dict[str, Any]]] = {}
    for row in attempts:
        by_stage.setdefault(row["stage"], []).append(row)
    return OperationView(
        **_common(op, now),
        stages=[stage_view(s, by_stage.get(s.name, ())) for s in op.stages.values()],
        started_at=moment(op.row["started_at"]),
        cancel_requested=op.row["cancel_requested"],
        left_behind=[InFlight.model_validate(x) for x in op.row["left_behind"]],
        superseded_by=op.row["superseded_by"],
        intent=redact(op.row["intent"]),
        verify_with=op.row["verify_with"],
    )


def operation_summary(op: OperationRecord, now: float) -> OperationSummary:
    """One operation as a row of the list."""
    return OperationSummary(**_common(op, now))
