"""Time as the product sees it: wall time, or the time of the endpoint it is told to follow.

All waits, deadlines and shown timestamps use a Clock. Signing, tokens, sessions, leases and time-outs that a caller
names are wall time and do not. Fetching the followed time is the business of `main.py`, not of this module.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, Protocol


class Clock(Protocol):
    """What everything that waits or stamps is given."""

    def time(self) -> float:
        """Seconds since the epoch."""
        ...

    def now(self) -> datetime:
        """The same as an aware UTC datetime."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return when `seconds` of this clock have passed."""
        ...


class WallClock:
    """The machine's own clock."""

    def time(self) -> float:
        """Seconds since the epoch."""
        return time.time()

    def now(self) -> datetime:
        """Aware UTC datetime."""
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        """Wait in wall time."""
        await asyncio.sleep(max(0.0, seconds))


@dataclass(frozen=True)
class Reading:
    """One reading of a followed clock: its time (epoch seconds), how it runs, its revision."""

    time: float
    mode: Literal["auto", "explicit"]
    speed: float
    revision: int


class FollowedClock:
    """A clock that runs as the last reading said, and wakes its sleepers at every new reading."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._at = time.monotonic()
        self._changed = asyncio.Event()
        self._floor = reading.time

    @property
    def revision(self) -> int:
        """Revision of the last reading."""
        return self._reading.revision

    def follow(self, reading: Reading) -> None:
        """Go on from a new reading; sleepers look again."""
        self._reading, self._at = reading, time.monotonic()
        self._changed.set()
        self._changed = asyncio.Event()

    def time(self) -> float:
        """Seconds since the epoch, never going back."""
        passed = (time.monotonic() - self._at) * self._reading.speed if self._reading.mode == "auto" else 0.0
        self._floor = max(self._floor, self._reading.time + passed)
        return self._floor

    def now(self) -> datetime:
        """Aware UTC datetime."""
        return datetime.fromtimestamp(self.time(), UTC)

    async def sleep(self, seconds: float) -> None:
        """Wait until the followed clock has moved by `seconds`."""
        due = self.time() + seconds
        while (left := due - self.time()) > 0:
            changed = self._changed
            delay = left / self._reading.speed if self._reading.mode == "auto" else None
            try:
                await asyncio.wait_for(changed.wait(), delay)
            except TimeoutError:
                continue
        await asyncio.sleep(0)
