"""The event log. An event says what changed, never what it is now: readers ask the GET for that."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import func, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from instantstart.core.clock import Clock
from instantstart.db.database import Database
from instantstart.db.tables import event

EVENT_TYPES: dict[str, str] = {
    "operation.created": "An operation was saved and will begin.",
    "operation.changed": "An operation or one of its stages changed; its revision rose.",
    "operation.ended": "An operation reached a terminal state.",
    "cluster.changed": "A cluster was registered, changed or removed.",
    "selection.changed": "A caller selected another cluster.",
}
"""Every event type and what it means; docs/events are tested against it."""


@dataclass(frozen=True)
class Event:
    """One row of the log. `topic` and `subject` name the thing, e.g. operation and its id."""

    id: int
    topic: str
    subject: str
    type: str
    revision: int | None = None
    data: dict[str, Any] = field(default_factory=dict)


class EventLog:
    """Append inside a transaction, `wake()` after it; followers then read on from where they were."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db, self._clock = db, clock
        self._news = asyncio.Event()

    async def append(
        self,
        conn: AsyncConnection,
        topic: str,
        subject: str,
        type_: str,
        *,
        revision: int | None = None,
        data: dict[str, Any] | None = None,
    ) -> None:
        """Append one event as part of the running transaction."""
        if type_ not in EVENT_TYPES:
            raise ValueError(f"unknown event type {type_}")
        values = {"at": self._clock.time(), "topic": topic, "subject": subject, "type": type_}
        await conn.execute(insert(event).values(**values, revision=revision, data=data or {}))

    def wake(self) -> None:
        """Tell followers that a transaction with events has been committed."""
        self._news.set()
        self._news = asyncio.Event()

    async def last_id(self) -> int:
        """Id of the newest event; 0 when there is none."""
        async with self._db.read() as conn:
            return int((await conn.execute(select(func.max(event.c.id)))).scalar() or 0)

    async def since(self, after: int, limit: int = 500) -> Sequence[Event]:
        """Events with an id above `after`, oldest first."""
        query = select(event).where(event.c.id > after).order_by(event.c.id).limit(limit)
        async with self._db.read() as conn:
            rows = (await conn.execute(query)).mappings().all()
        return [Event(r["id"], r["topic"], r["subject"], r["type"], r["revision"], r["data"]) for r in rows]

    async def follow(self, after: int) -> AsyncIterator[Sequence[Event]]:
        """Batches of events above `after`, as they come, until the reader stops."""
        while True:
            news = self._news
            batch = await self.since(after)
            if batch:
                after = batch[-1].id
                yield batch
            else:
                await news.wait()
