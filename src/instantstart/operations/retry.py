"""Retry: the failed stages become pending again; what a retry must remove first becomes stages before them."""

from __future__ import annotations

from instantstart.core.plan import Consent
from instantstart.operations.problems import CONSENT_REQUIRED, NOT_RETRYABLE, STAGE_NOT_FOUND
from instantstart.operations.schema import RetryRequest
from instantstart.operations.store import OperationRecord, StageRecord


def choose(op: OperationRecord, request: RetryRequest) -> list[StageRecord]:
    """The stages to run again. Raises not_retryable, stage_not_found or consent_required."""
    if request.stage is not None and request.stage not in op.stages:
        raise STAGE_NOT_FOUND(f"{op.id} has no stage {request.stage}.", data={"stages": list(op.stages)})
    named = [op.stages[request.stage]] if request.stage else list(op.stages.values())
    allowed = {"failed", "cancelled"} | ({"unproven"} if request.stage else set())
    chosen = [s for s in named if s.state in allowed]
    reopened = op.state == "succeeded" and all(s.state == "unproven" for s in chosen)
    if not chosen or not (op.state in ("failed", "cancelled") or reopened):
        detail = f"Operation {op.id} is {op.state}" + (
            f", stage {request.stage} is {named[0].state}." if request.stage else "."
        )
        raise NOT_RETRYABLE(detail)
    unasked = [s for s in chosen if s.consent and s.name not in request.accept]
    if unasked:
        consents = [s.consent for s in unasked if s.consent]
        raise CONSENT_REQUIRED(
            "A retry of " + ", ".join(s.name for s in unasked) + " would first remove what stands in the way.",
            data={
                "accept": [s.name for s in unasked],
                "objects": [o.model_dump(mode="json") for c in consents for o in c.objects],
                "stages": [s.model_dump(mode="json") for c in consents for s in c.stages],
            },
        )
    return chosen


def reopen(op: OperationRecord, chosen: list[StageRecord]) -> tuple[list[StageRecord], list[StageRecord]]:
    """Make the chosen stages pending; returns (changed stages, new removal stages)."""
    changed: dict[str, StageRecord] = {}
    added: list[StageRecord] = []
    for record in chosen:
        if record.consent:
            removals, rerun = _insert(op, record, record.consent)
            added += removals
            for again in rerun:
                _reset(again, forget=True)
                changed[again.name] = again
        _reset(record, forget=record.consent is not None)
        changed[record.name] = record
    for record in op.stages.values():
        if record.state == "cancelled":
            _reset(record, forget=False)
            changed[record.name] = record
    return list(changed.values()), added


def _reset(record: StageRecord, *, forget: bool) -> None:
    record.state, record.problem, record.consent, record.message = "pending", None, None, None
    record.attention, record.ended_at, record.in_flight = None, None, None
    if forget:
        record.outputs = {}
        record.kept = {k: v for k, v in record.kept.items() if not k.startswith("token:")}


def _insert(op: OperationRecord, record: StageRecord, consent: Consent) -> tuple[list[StageRecord], list[StageRecord]]:
    """Removal stages in a row, before the first stage that runs again."""
    rerun = [op.stages[n] for n in consent.rerun if n in op.stages] or [record]
    position = min(r.position for r in rerun) - len(consent.stages)
    removals: list[StageRecord] = []
    for offset, spec in enumerate(consent.stages):
        name, count = spec.name, 2
        while name in op.stages or name in {r.name for r in removals}:
            name, count = f"{spec.name}_{count}", count + 1
        needs = [removals[-1].name] if removals else []
        removals.append(StageRecord(spec.model_copy(update={"name": name, "needs": needs}), position + offset))
    if removals:
        first = rerun[0]
        needs = [*first.spec.needs, removals[-1].name]
        first.spec = first.spec.model_copy(update={"needs": needs})
    return removals, rerun
