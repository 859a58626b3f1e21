"""The engine: saves, begins, retries, cancels and watches operations. One per process."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from typing import Literal

from instantstart.core.access import Caller
from instantstart.core.ids import new_id
from instantstart.core.plan import Plan
from instantstart.core.problem import ProblemError
from instantstart.events.log import EventLog
from instantstart.operations import retry as retrying
from instantstart.operations import store
from instantstart.operations.conductor import Conductor
from instantstart.operations.lease import Lease
from instantstart.operations.problems import LEASE_LOST, NOT_CANCELLABLE, NOT_RETRYABLE, OPERATION_NOT_FOUND
from instantstart.operations.schema import TERMINAL, OperationList, OperationView, OperationWaited, RetryRequest
from instantstart.operations.seams import AbortedError, Seams
from instantstart.operations.services import Services
from instantstart.operations.store import OperationRecord
from instantstart.operations.submit import Wish, save_new, standing
from instantstart.operations.views import operation_summary, operation_view

log = logging.getLogger("instantstart.operations")
MAX_WAIT_SECONDS = 300.0


class Engine:
    """Durable operations over one database. `start()` goes on with whatever had not ended."""

    def __init__(self, services: Services, events: EventLog, seams: Seams | None = None) -> None:
        self.services, self.events = services, events
        self._seams = seams or Seams()
        self._owner = new_id(f"{socket.gethostname()}-{os.getpid()}-")
        self._conductors: dict[str, Conductor] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._changed: dict[str, asyncio.Event] = {}
        self._cancelled: set[str] = set()
        self._stopping = False
        self.aborted = asyncio.Event()

    async def start(self) -> None:
        """Carry on every operation that has not ended."""
        async with self.services.db.read() as conn:
            ids = await store.active_operations(conn)
        for operation_id in ids:
            self._begin(operation_id)

    async def stop(self, patience: float = 12.0) -> None:
        """Stop sending, wait up to `patience` wall seconds for calls in flight, and leave the rest as it stands."""
        self._stopping = True
        for conductor in self._conductors.values():
            conductor.stop()
        tasks = list(self._tasks.values())
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=patience)
            for task in late:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    # -- reading

    async def record(self, operation_id: str) -> OperationRecord:
        """The operation's rows; raises operation_not_found."""
        async with self.services.db.read() as conn:
            found = await store.load(conn, operation_id)
        if found is None:
            raise OPERATION_NOT_FOUND(f"There is no operation {operation_id}.")
        return found

    async def view(self, operation_id: str) -> OperationView:
        """The operation as it stands; raises operation_not_found."""
        async with self.services.db.read() as conn:
            found = await store.load(conn, operation_id)
            attempts = await store.attempts_of(conn, operation_id)
        if found is None:
            raise OPERATION_NOT_FOUND(f"There is no operation {operation_id}.")
        return operation_view(found, attempts, self.services.clock.time())

    async def page(
        self,
        *,
        cluster: str | None = None,
        state: str | None = None,
        kind: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> OperationList:
        """A page of operations, newest first."""
        async with self.services.db.read() as conn:
            ids = await store.page(conn, cluster=cluster, state=state, kind=kind, limit=limit + 1, before=cursor)
            records = await store.load_many(conn, ids[:limit])
        now = self.services.clock.time()
        more = ids[limit - 1] if len(ids) > limit else None
        return OperationList(items=[operation_summary(r, now) for r in records], next_cursor=more)

    async def active(self, cluster: str) -> list[OperationView]:
        """Operations of a cluster that have not ended."""
        async with self.services.db.read() as conn:
            rows = await store.candidates(conn, cluster, store.ACTIVE)
        return [await self.view(r["id"]) for r in rows if r["cluster"] == cluster]

    async def wait(self, operation_id: str, timeout: float) -> OperationWaited:
        """Return at a terminal state or new attention, or after `timeout` wall seconds."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + min(max(timeout, 0.0), MAX_WAIT_SECONDS)
        first = await self.view(operation_id)
        known, view = set(first.attention), first
        reason: Literal["terminal", "attention", "timeout"]
        while True:
            changed = self._changed.setdefault(operation_id, asyncio.Event())
            view = await self.view(operation_id)
            left = deadline - loop.time()
            if view.terminal or set(view.attention) - known or left <= 0:
                break
            try:
                await asyncio.wait_for(changed.wait(), left)
            except TimeoutError:
                continue
        reason = "terminal" if view.terminal else "attention" if set(view.attention) - known else "timeout"
        return OperationWaited(operation=view, reason=reason, next_poll_seconds=None if view.terminal else 5)

    # -- changing

    async def standing(self, wish: Wish) -> OperationView | None:
        """The active operation with this very request; raises the conflict for another on the same keys."""
        async with self.services.db.read() as conn:
            found = await standing(conn, wish)
        return await self.view(found) if found else None

    async def submit(self, wish: Wish, plan: Plan, caller: Caller) -> OperationView:
        """Save the operation, then begin it. The same request meanwhile gets the first one."""
        async with self.services.db.write() as conn:
            found = await standing(conn, wish)
            if found is None:
                row = await save_new(conn, wish, plan, caller, self.services.clock.time())
                data = {"cluster": wish.cluster, "kind": wish.kind}
                await self.events.append(conn, "operation", row["id"], "operation.created", revision=1, data=data)
        self.events.wake()
        operation_id = found or str(row["id"])
        if found is None:
            self._begin(operation_id)
        return await self.view(operation_id)

    async def retry(self, operation_id: str, request: RetryRequest) -> OperationView:
        """Run the failed stages again and go on; raises not_retryable or consent_required."""
        await self._settled(operation_id)
        async with self.services.db.write() as conn:
            op = await store.load(conn, operation_id)
            if op is None:
                raise OPERATION_NOT_FOUND(f"There is no operation {operation_id}.")
            chosen = retrying.choose(op, request)
            for row in await store.candidates(conn, None, store.ACTIVE):
                if set(row["keys"]) & set(op.row["keys"]):
                    raise NOT_RETRYABLE(f"{row['title']} (operation {row['id']}) is changing the same thing.")
            changed, added = retrying.reopen(op, chosen)
            await store.insert_stages(conn, operation_id, added)
            for record in changed:
                await store.save_stage(conn, operation_id, record)
            revision = op.row["revision"] + 1
            reopened = {"state": "running", "problem": None, "ended_at": None, "cancel_requested": False}
            await store.save_operation(conn, operation_id, revision=revision, left_behind=[], **reopened)
            await self.events.append(conn, "operation", operation_id, "operation.changed", revision=revision)
        self.events.wake()
        self._begin(operation_id)
        return await self.view(operation_id)

    async def cancel(self, operation_id: str) -> OperationView:
        """Stop new effects; the operation ends `cancelled` when the calls in flight have come back."""
        op = await self.record(operation_id)
        if op.state in TERMINAL:
            raise NOT_CANCELLABLE(f"Operation {operation_id} is {op.state} already.")
        self._cancelled.add(operation_id)
        async with self.services.db.write() as conn:
            await store.save_operation(conn, operation_id, cancel_requested=True)
        if conductor := self._conductors.get(operation_id):
            conductor.cancel()
        return await self.view(operation_id)

    # -- inside

    def _begin(self, operation_id: str) -> None:
        if not self._stopping and operation_id not in self._tasks:
            task = asyncio.create_task(self._conduct(operation_id), name=f"operation {operation_id}")
            self._tasks[operation_id] = task

    async def _settled(self, operation_id: str) -> None:
        """Wait for a conductor that has just ended to leave."""
        task = self._tasks.get(operation_id)
        if task is not None and (await self.record(operation_id)).state in TERMINAL:
            await asyncio.wait({task})

    async def _conduct(self, operation_id: str) -> None:
        db = self.services.db
        try:
            lease = Lease(db, operation_id, self._owner)
            while not await lease.take():  # noqa: ASYNC110 - held by another process, which cannot tell us
                await asyncio.sleep(1.0)
            record = await self.record(operation_id)
            conductor = Conductor(self.services, self.events, record, lease, self._seams, self._note)
            self._conductors[operation_id] = conductor
            if operation_id in self._cancelled:
                conductor.cancel()
            await conductor.run()
        except AbortedError:
            self.aborted.set()
        except ProblemError as error:
            if error.code != LEASE_LOST.code:
                raise
            log.warning("lease of %s has passed on", operation_id)
        finally:
            self._cancelled.discard(operation_id)
            self._conductors.pop(operation_id, None)
            self._tasks.pop(operation_id, None)

    def _note(self, operation_id: str) -> None:
        if changed := self._changed.pop(operation_id, None):
            changed.set()
