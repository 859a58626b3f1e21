"""Carries one operation along its graph of stages to an end. It alone writes the stage rows while it runs."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from instantstart.core.problem import ProblemError
from instantstart.events.log import EventLog
from instantstart.operations import store
from instantstart.operations.context import Context, StageInterruptedError
from instantstart.operations.ending import ending, left_behind, record_ending
from instantstart.operations.lease import Lease
from instantstart.operations.problems import (
    DEADLINE_EXCEEDED,
    LEASE_LOST,
    STAGE_BROKE,
    STAGE_DEFINITION_CHANGED,
    LostAnswerError,
)
from instantstart.operations.schema import STAGE_DONE
from instantstart.operations.seams import Seams
from instantstart.operations.services import Services
from instantstart.operations.stage import REGISTRY, Done, Result, Unchanged, Unproven, Waiting
from instantstart.operations.store import OperationRecord, StageRecord

log = logging.getLogger("instantstart.operations")
DEFAULT_DEADLINE_SECONDS = 90 * 60
_ENDED: dict[type, str] = {Done: "succeeded", Unchanged: "unchanged", Unproven: "unproven"}


@dataclass(frozen=True)
class _Failed:
    """The stage has failed and was saved so."""


@dataclass(frozen=True)
class _Again:
    """The stage was interrupted: look why before going on."""


_Step = Result | _Failed | _Again


class Conductor:
    """Runs the stages of one operation; `changed` is called after each committed change."""

    def __init__(
        self,
        services: Services,
        events: EventLog,
        record: OperationRecord,
        lease: Lease,
        seams: Seams,
        changed: Callable[[str], None],
    ) -> None:
        self.services, self.events, self.record, self.lease, self.seams = services, events, record, lease, seams
        self._changed = changed
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._interrupt = asyncio.Event()
        self._resume_at: dict[str, float] = {}
        self._errors: dict[str, int] = {}
        self.stopping = False

    # -- what others ask of it

    @property
    def interrupted(self) -> bool:
        """Whether no new effect may be sent: cancelled, or the service stops."""
        return self._interrupt.is_set()

    def cancel(self) -> None:
        """Stop sending; calls in flight are waited for."""
        self.record.row["cancel_requested"] = True
        self._interrupt.set()

    def stop(self) -> None:
        """The service stops: leave everything as it stands."""
        self.stopping = True
        self._interrupt.set()

    def waited(self, record: StageRecord) -> float:
        """Seconds of the clock this stage has waited, less what does not count."""
        if record.waiting_since is None:
            return 0.0
        return max(0.0, self.services.clock.time() - record.waiting_since - record.uncounted_seconds)

    async def save(self, *records: StageRecord, **values: Any) -> None:
        """Save stages and columns of the operation in one transaction, with its event, under the fence."""
        row = self.record.row
        row.update(values)
        if not values.get("ended_at"):
            row["state"] = self._state()
        async with self.services.db.write() as conn:
            await store.check_fence(conn, self.record.id, self.lease.fence)
            row["revision"] += 1
            for record in records:
                await store.save_stage(conn, self.record.id, record)
            await store.save_operation(
                conn,
                self.record.id,
                state=row["state"],
                revision=row["revision"],
                started_at=row["started_at"],
                **values,
            )
            if values.get("ended_at"):
                await record_ending(conn, self.record, self.services.clock.time())
            kind = "operation.ended" if values.get("ended_at") else "operation.changed"
            data = {"cluster": row["cluster"], "kind": row["kind"]}
            await self.events.append(conn, "operation", self.record.id, kind, revision=row["revision"], data=data)
        self.events.wake()
        self._changed(self.record.id)

    # -- the run

    async def run(self) -> None:
        """Go on until nothing runs any more, then say how it ended."""
        if self.record.row["cancel_requested"]:
            self._interrupt.set()
        await self._find_unanswered()
        if self.record.row["started_at"] is None:
            self.record.row["started_at"] = self.services.clock.time()
        try:
            while True:
                self._start_ready()
                if not self._tasks:
                    break
                done, _ = await asyncio.wait(self._tasks.values(), return_when=asyncio.FIRST_COMPLETED)
                self._tasks = {n: t for n, t in self._tasks.items() if t not in done}
                for task in done:
                    task.result()
        finally:
            for task in self._tasks.values():
                task.cancel()
            await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        if not self.stopping:
            await self._finish()

    async def _find_unanswered(self) -> None:
        """Calls that a dead process left in flight: their stages wait until they can no longer land."""
        async with self.services.db.write() as conn:
            for row in await store.attempts_of(conn, self.record.id):
                if row["state"] == "sending":
                    await store.end_attempt(conn, row["id"], state="lost", ended_at=self.services.clock.time())
                    due = row["started_at"] + row["timeout"]
                    self._resume_at[row["stage"]] = max(due, self._resume_at.get(row["stage"], 0.0))

    def _start_ready(self) -> None:
        stages = self.record.stages
        for record in stages.values():
            if record.name in self._tasks:
                continue
            ready = record.state == "pending" and all(
                stages[n].state in STAGE_DONE for n in record.spec.needs if n in stages
            )
            if record.state in ("running", "waiting") or (ready and not self.interrupted):
                self._tasks[record.name] = asyncio.create_task(self._carry(record), name=record.name)

    async def _carry(self, record: StageRecord) -> None:
        """One stage from where it stands to its end, or until interrupted."""
        if record.state == "pending":
            await self._begin(record)
        self.seams.at("stage_start", record.name)
        if record.name in self._resume_at:
            left = self._resume_at.pop(record.name) - self.services.clock.time()
            await self._pause(max(0.0, left))
        while True:
            if self.interrupted:
                if not self.stopping:
                    await self._end(record, "cancelled")
                return
            result = await self._step(record)
            if isinstance(result, _Again):
                continue
            if isinstance(result, _Failed):
                return
            if not isinstance(result, Waiting):
                record.outputs = {**record.outputs, **result.outputs}
                record.message = result.message
                record.in_flight = _dump(getattr(result, "in_flight", None))
                self.seams.at("stage_end", record.name)
                await self._end(record, _ENDED[type(result)])
                return
            if await self._wait(record, result):
                return

    async def _begin(self, record: StageRecord) -> None:
        now = self.services.clock.time()
        record.state, record.started_at, record.ended_at = "running", now, None
        record.attempts += 1
        record.message = record.attention = record.problem = record.consent = None
        record.waiting_since, record.uncounted_seconds = None, 0.0
        self._errors[record.name] = 0
        await self.save(record)

    async def _step(self, record: StageRecord) -> _Step:
        """Call the stage once."""
        if blocked := await self._take_locks(record):
            return Waiting(f"Waits for operation {blocked}, which is changing the same thing.", poll_after=5.0)
        definition = REGISTRY.get(record.spec.definition)
        if definition is None or definition.version != record.spec.version:
            detail = f"{record.spec.definition} version {record.spec.version} is not in this release."
            return await self._fail(record, STAGE_DEFINITION_CHANGED(detail))
        try:
            result = await definition.function(Context(self, record))
        except StageInterruptedError:
            return _Again()
        except ProblemError as error:
            return await self._after_problem(record, error)
        except Exception:
            log.exception("stage broke", extra={"operation": self.record.id, "stage": record.name})
            return await self._fail(record, STAGE_BROKE(f"{record.spec.title} stopped on an unexpected error."))
        self._errors[record.name] = 0
        return result

    async def _after_problem(self, record: StageRecord, error: ProblemError) -> _Step:
        if error.code == LEASE_LOST.code:
            raise error
        if isinstance(error, LostAnswerError):
            return Waiting(error.problem.detail, poll_after=error.timeout)
        if not error.transient:
            return await self._fail(record, error)
        self._errors[record.name] = tries = self._errors.get(record.name, 0) + 1
        attention = error.problem.detail if tries >= 5 else None
        pause = min(60.0, 2.0**tries) * random.uniform(0.75, 1.25)  # noqa: S311 - jitter
        return Waiting(f"{error.problem.title}; trying again.", attention=attention, poll_after=pause)

    async def _wait(self, record: StageRecord, result: Waiting) -> bool:
        """Show what it waits for, then pause; True when its deadline has passed and it failed."""
        now = self.services.clock.time()
        if record.waiting_since is None:
            record.waiting_since = now
        shown = (record.state, record.message, record.attention, record.in_flight, record.outputs)
        record.state, record.message, record.attention = "waiting", result.message, result.attention
        record.in_flight = _dump(result.in_flight) or record.in_flight
        record.outputs = {**record.outputs, **result.outputs}
        if shown != (record.state, record.message, record.attention, record.in_flight, record.outputs):
            await self.save(record)
        deadline = record.spec.deadline_seconds or DEFAULT_DEADLINE_SECONDS
        if result.counts and self.waited(record) >= deadline:
            detail = f"{record.spec.title}: not done after {deadline // 60} minutes. Last seen: {result.message}"
            await self._fail(record, DEADLINE_EXCEEDED(detail))
            return True
        await self._pause(self._interval(record, result))
        if not result.counts:
            record.uncounted_seconds += self.services.clock.time() - now
        return False

    def _interval(self, record: StageRecord, result: Waiting) -> float:
        """Poll seldom while the typical end is far, often when it is near; never faster than every two seconds."""
        typical = record.spec.typical_seconds
        floor = max(2.0, 0.015 * typical)
        near = 0.25 * abs(typical - self.waited(record))
        pause = result.poll_after if self._errors.get(record.name) else min(max(near, floor), result.poll_after)
        return pause * random.uniform(0.9, 1.1)  # noqa: S311 - jitter

    async def _fail(self, record: StageRecord, error: ProblemError) -> _Failed:
        record.problem, record.consent = error.problem, error.consent
        if error.log:
            log.warning("stage failed: %s", error.log, extra={"operation": self.record.id, "stage": record.name})
        await self._end(record, "failed")
        return _Failed()

    async def _end(self, record: StageRecord, state: str) -> None:
        record.state, record.ended_at, record.attention = state, self.services.clock.time(), None
        async with self.services.db.write() as conn:
            await store.release_locks(conn, self.record.id, record.name)
        await self.save(record)

    async def _take_locks(self, record: StageRecord) -> str | None:
        for key in sorted(record.spec.locks):
            async with self.services.db.write() as conn:
                holder = await store.take_lock(conn, key, self.record.id, record.name)
            if holder:
                return holder
        return None

    async def _finish(self) -> None:
        """Nothing runs any more: succeeded, failed or cancelled."""
        state, problem = ending(self.record)
        cancelled = [s for s in self.record.stages.values() if state == "cancelled" and s.state == "pending"]
        for record in cancelled:
            record.state = "cancelled"
        self.record.row["state"] = state
        async with self.services.db.write() as conn:
            await store.release_locks(conn, self.record.id)
        await self.save(
            *cancelled,
            ended_at=self.services.clock.time(),
            problem=problem.model_dump(mode="json") if problem else None,
            left_behind=left_behind(self.record) if state == "cancelled" else [],
        )
        await self.lease.release()

    def _state(self) -> str:
        working = [s.state for s in self.record.stages.values() if s.state in ("running", "waiting")]
        return "waiting" if working and all(s == "waiting" for s in working) else "running"

    async def _pause(self, seconds: float) -> None:
        """Sleep on the clock, or until interrupted."""
        if self.interrupted:
            return
        sleeper = asyncio.ensure_future(self.services.clock.sleep(seconds))
        waker = asyncio.ensure_future(self._interrupt.wait())
        try:
            await asyncio.wait({sleeper, waker}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            sleeper.cancel()
            waker.cancel()


def _dump(value: Any) -> dict[str, Any] | None:
    return None if value is None else dict(value.model_dump(mode="json"))
