"""Persistent timers and units of work: how the world changes by itself.

A timer is (kind, key, due, payload); its handler runs in the transaction that removes it. Work is a level-triggered
queue: `enqueue(name, key)` any number of times, handled once, after the transaction that asked for it.
"""

from __future__ import annotations

import asyncio
import heapq
import logging
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import orjson

from instantstart_sandbox.world.clock import WorldClock
from instantstart_sandbox.world.store import Store

TimerHandler = Callable[[str, dict[str, Any]], None]
WorkHandler = Callable[[str], None]
log = logging.getLogger("sandbox.timers")
_DRAIN_LIMIT = 200_000


class Work:
    """Level-triggered work: handlers see keys, look at the world, and change what differs."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._handlers: dict[str, WorkHandler] = {}
        self._queue: OrderedDict[tuple[str, str], None] = OrderedDict()
        self._draining = False
        store.after_commit.append(self.drain)

    def on(self, name: str, handler: WorkHandler) -> None:
        """Register the one handler of `name`."""
        self._handlers[name] = handler

    def enqueue(self, name: str, key: str) -> None:
        """Ask for `key` to be looked at after the present transaction (at once when there is none: on drain)."""
        self._queue.setdefault((name, key), None)

    def drain(self) -> None:
        """Handle all queued work, each unit in a transaction of its own, until none is left."""
        if self._draining:
            return
        self._draining = True
        try:
            for _ in range(_DRAIN_LIMIT):
                if not self._queue:
                    return
                (name, key), _none = self._queue.popitem(last=False)
                with self._store.transaction():
                    self._handlers[name](key)
            raise RuntimeError(f"work does not settle; still queued: {list(self._queue)[:5]}")
        finally:
            self._draining = False


class Timers:
    """Timers ordered by due time, then by the order in which they were set."""

    def __init__(self, store: Store, clock: WorldClock, work: Work) -> None:
        self._store, self._clock, self._work = store, clock, work
        self._handlers: dict[str, TimerHandler] = {}
        self._heap: list[tuple[float, int, str, str]] = []
        self._live: dict[tuple[str, str], int] = {}
        self._wake = asyncio.Event()
        self._seq = 0
        self._load()
        store.on_rollback.append(self._load)

    def _load(self) -> None:
        self._heap, self._live = [], {}
        for kind, key, due, seq in self._store.db.execute("select kind, key, due, seq from timer"):
            self._live[(kind, key)] = seq
            heapq.heappush(self._heap, (due, seq, kind, key))
            self._seq = max(self._seq, seq)

    def on(self, kind: str, handler: TimerHandler) -> None:
        """Register the one handler of a timer kind."""
        self._handlers[kind] = handler

    def after(self, seconds: float, kind: str, key: str, **payload: Any) -> None:
        """Fire in `seconds` of world time; replaces a timer of the same kind and key."""
        self.at(self._clock.time() + seconds, kind, key, **payload)

    def at(self, due: float, kind: str, key: str, **payload: Any) -> None:
        """Fire at world time `due` (epoch seconds)."""
        self._seq += 1
        with self._store.transaction():
            self._store.db.execute(
                "insert or replace into timer values (?, ?, ?, ?, ?)",
                (kind, key, due, self._seq, orjson.dumps(payload)),
            )
        self._live[(kind, key)] = self._seq
        heapq.heappush(self._heap, (due, self._seq, kind, key))
        self._wake.set()

    def cancel(self, kind: str, key: str) -> None:
        """Forget a timer, if it is set."""
        self._live.pop((kind, key), None)
        with self._store.transaction():
            self._store.db.execute("delete from timer where kind = ? and key = ?", (kind, key))

    def pending(self, kind: str, key: str) -> bool:
        """Whether such a timer is set."""
        return (kind, key) in self._live

    def next_due(self) -> float | None:
        """Due time of the next timer, epoch seconds of world time."""
        while self._heap:
            due, seq, kind, key = self._heap[0]
            if self._live.get((kind, key)) == seq:
                return due
            heapq.heappop(self._heap)
        return None

    def fire_due(self, until: float) -> None:
        """Fire all timers due by `until`, in order; in explicit mode the clock stands at each one's due time."""
        while (due := self.next_due()) is not None and due <= until:
            _, seq, kind, key = heapq.heappop(self._heap)
            if self._clock.mode == "explicit":
                self._clock.step_to(due)
            self._live.pop((kind, key), None)
            with self._store.transaction():
                row = self._store.db.execute(
                    "select body from timer where kind = ? and key = ? and seq = ?", (kind, key, seq)
                ).fetchone()
                self._store.db.execute("delete from timer where kind = ? and key = ? and seq = ?", (kind, key, seq))
                if row is not None:
                    self._handlers[kind](key, orjson.loads(row[0]))
            self._work.drain()

    async def advance(self, seconds: float) -> None:
        """Move an explicit clock forward, letting clients that wait on the clock run between the timers."""
        target = self._clock.time() + seconds
        while (due := self.next_due()) is not None and due <= target:
            self.fire_due(due)
            await asyncio.sleep(0)
        self._clock.step_to(target)

    async def run(self) -> None:
        """Fire timers as the clock reaches them, until cancelled."""
        while True:
            self._wake.clear()
            self._work.drain()
            if self._clock.mode == "auto":
                self.fire_due(self._clock.time())
            due = self.next_due()
            delay = self._clock.wall_delay(due) if due is not None else None
            revision = self._clock.revision
            waits: list[asyncio.Future[object]] = [asyncio.ensure_future(self._wake.wait())]
            waits.append(asyncio.ensure_future(self._clock.wait_change(revision, 3600)))
            await asyncio.wait(waits, timeout=delay, return_when=asyncio.FIRST_COMPLETED)
            for task in waits:
                task.cancel()
            self._clock.keep()
