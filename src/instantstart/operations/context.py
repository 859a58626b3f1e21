"""The context that the conductor gives to a running stage; see `stage.StageContext` for the contract."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

from instantstart.core.access import Face
from instantstart.core.clock import Clock
from instantstart.core.ids import client_token
from instantstart.core.plan import EffectClass, StageSpec
from instantstart.core.problem import ProblemError
from instantstart.db.database import Database
from instantstart.operations import store
from instantstart.operations.problems import OUTCOME_UNKNOWN, LostAnswerError
from instantstart.operations.services import Services
from instantstart.operations.stage import Answer
from instantstart.operations.store import StageRecord

if TYPE_CHECKING:
    from instantstart.operations.conductor import Conductor

T = TypeVar("T")
_GRACE_SECONDS = 5.0


class StageInterruptedError(Exception):
    """The operation is being cancelled or the service stops: no new effect may be sent."""


class Context:
    """One stage's view of its operation and its only way to change something outside."""

    def __init__(self, conductor: Conductor, record: StageRecord) -> None:
        self._conductor, self._record = conductor, record
        row = conductor.record.row
        self.operation_id: str = row["id"]
        self.cluster: str = row["cluster"] or ""
        self.spec: StageSpec = record.spec
        self.intent: dict[str, Any] = row["intent"]
        self.params: dict[str, Any] = record.spec.params
        self.principal: str = row["principal"]
        self.face: Face = row["face"]
        self.services: Services = conductor.services
        self.clock: Clock = conductor.services.clock
        self.db: Database = conductor.services.db
        self.waited = conductor.waited(record)

    def outputs(self, stage: str) -> dict[str, Any]:
        """Outputs of another stage of this operation ({} when it has none)."""
        found = self._conductor.record.stages.get(stage)
        return dict(found.outputs) if found else {}

    @property
    def own_outputs(self) -> dict[str, Any]:
        """Outputs this stage has left so far."""
        return dict(self._record.outputs)

    async def token(self, name: str) -> str:
        """A client token of this stage, stored before its first use."""
        return str(await self._keep(f"token:{name}", client_token))

    async def renew_token(self, name: str) -> None:
        """Forget a token."""
        await self.forget(f"token:{name}")

    async def generated(self, name: str, make: Callable[[], Awaitable[T]]) -> T:
        """A generated value of this stage, stored before its first use."""
        if name not in self._record.kept:
            value = await make()
            await self._keep(name, lambda: value)
        kept: T = self._record.kept[name]
        return kept

    async def forget(self, name: str) -> None:
        """Forget a generated value."""
        if name in self._record.kept:
            self._record.kept = {k: v for k, v in self._record.kept.items() if k != name}
            await self._conductor.save(self._record)

    async def say(self, message: str) -> None:
        """Show what is being done now."""
        if message != self._record.message:
            self._record.message = message
            await self._conductor.save(self._record)

    async def effect(
        self,
        effect: EffectClass,
        name: str,
        subject: str,
        call: Callable[[], Awaitable[Answer]],
        *,
        timeout: float = 10.0,
        evidence: Callable[[], Awaitable[Answer | None]] | None = None,
    ) -> Answer:
        """Send one changing call; see the contract in `stage.StageContext`."""
        if self._conductor.interrupted:
            raise StageInterruptedError
        if effect == "once" and (answer := await self._once(name, subject, evidence)) is not None:
            return answer
        await self._conductor.lease.ensure(timeout)
        attempt = await self._begin(effect, name, subject, timeout)
        seams = self._conductor.seams
        seams.at("before_call", self.spec.name, name)
        try:
            answer = await asyncio.wait_for(call(), timeout + _GRACE_SECONDS)
        except TimeoutError:
            await self._end(attempt, "lost")
            raise LostAnswerError(name, timeout) from None
        except ProblemError as error:
            seams.at("after_call", self.spec.name, name)
            await self._end(attempt, "lost" if error.lost else "failed", error=error)
            if error.lost:
                raise LostAnswerError(name, timeout) from error
            raise
        seams.at("after_call", self.spec.name, name)
        if effect == "once":
            self._record.kept = {**self._record.kept, f"answer:{name}:{subject}": _plain(answer)}
        await self._end(attempt, "answered", request_ids=_request_ids(answer))
        seams.at("after_commit", self.spec.name, name)
        return answer

    async def _once(
        self, name: str, subject: str, evidence: Callable[[], Awaitable[Answer | None]] | None
    ) -> Answer | None:
        kept: Answer | None = self._record.kept.get(f"answer:{name}:{subject}")
        if kept is not None:
            return kept
        async with self.db.read() as conn:
            rows = await store.attempts_of(conn, self.operation_id)
        tried = [
            r
            for r in rows
            if (r["stage"], r["effect"], r["subject"]) == (self.spec.name, name, subject)
            and r["state"] in ("sending", "lost", "answered")
        ]
        if not tried:
            return None
        found = await evidence() if evidence is not None else None
        if found is None:
            raise OUTCOME_UNKNOWN(f"{name} for {subject} was sent, but no answer was kept.")
        await self._end(tried[-1]["id"], "answered", request_ids=_request_ids(found))
        return found

    async def _begin(self, effect: str, name: str, subject: str, timeout: float) -> int:
        async with self.db.write() as conn:
            await store.check_fence(conn, self.operation_id, self._conductor.lease.fence)
            return await store.add_attempt(
                conn,
                operation_id=self.operation_id,
                stage=self.spec.name,
                number=self._record.attempts,
                effect=name,
                effect_class=effect,
                subject=subject[:400],
                state="sending",
                timeout=timeout,
                fence=self._conductor.lease.fence,
                started_at=self.clock.time(),
                request_ids=[],
            )

    async def _end(
        self, attempt: int, state: str, *, request_ids: list[str] | None = None, error: ProblemError | None = None
    ) -> None:
        failed = error.problem.aws.request_id if error and error.problem.aws else None
        ids = request_ids or [failed or ""]
        async with self.db.write() as conn:
            await store.check_fence(conn, self.operation_id, self._conductor.lease.fence)
            await store.end_attempt(
                conn,
                attempt,
                state=state,
                ended_at=self.clock.time(),
                request_ids=[i for i in ids if i],
                problem=error.problem.model_dump(mode="json") if error else None,
            )
            await store.save_stage(conn, self.operation_id, self._record)

    async def _keep(self, name: str, make: Callable[[], Any]) -> Any:
        if name not in self._record.kept:
            self._record.kept = {**self._record.kept, name: make()}
            await self._conductor.save(self._record)
        return self._record.kept[name]


def _request_ids(answer: Answer) -> list[str]:
    metadata = answer.get("ResponseMetadata") if isinstance(answer, dict) else None
    found = (metadata or {}).get("RequestId")
    return [str(found)] if found else []


def _plain(answer: Answer) -> Answer:
    return {k: v for k, v in answer.items() if isinstance(v, str | int | float | bool | list | dict | None)}
