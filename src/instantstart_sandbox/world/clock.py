"""The world's clock: starts at wall time, then runs `speed` times faster (`auto`) or only when told (`explicit`).

World time is persisted, so a restarted sandbox goes on from where its world stopped. It never goes back.
"""

from __future__ import annotations

import asyncio
import time as wall
from datetime import UTC, datetime
from typing import Literal

from instantstart_sandbox.world.store import Store

Mode = Literal["auto", "explicit"]
DEFAULT_SPEED = 60.0


class WorldClock:
    """World time in epoch seconds. `changed` is set whenever mode, speed or an explicit step moved it."""

    def __init__(self, store: Store, mode: Mode | None = None, speed: float | None = None) -> None:
        self._store = store
        kept = store.meta("clock", {})
        self.mode: Mode = mode or kept.get("mode", "auto")
        self.speed: float = speed or kept.get("speed", DEFAULT_SPEED)
        self._base_world: float = kept.get("time", wall.time())
        self._base_wall = wall.monotonic()
        self.revision: int = kept.get("revision", 0) + 1
        self._changed = asyncio.Event()
        self.keep()

    def time(self) -> float:
        """World time, seconds since the epoch."""
        if self.mode == "explicit":
            return self._base_world
        return self._base_world + (wall.monotonic() - self._base_wall) * self.speed

    def now(self) -> datetime:
        """World time as an aware UTC datetime."""
        return datetime.fromtimestamp(self.time(), UTC)

    def wall_delay(self, due: float) -> float | None:
        """Wall seconds until world time `due`; None when only an explicit step can get there."""
        if self.mode == "explicit":
            return None
        return max(0.0, (due - self.time()) / self.speed)

    def set(self, mode: Mode | None = None, speed: float | None = None) -> None:
        """Change mode or speed from now on."""
        self._rebase(self.time())
        self.mode = mode or self.mode
        self.speed = speed or self.speed
        self._bump()

    def step_to(self, due: float) -> None:
        """Move to world time `due` (explicit mode; used by the timers while they fire in order)."""
        self._rebase(max(due, self._base_world if self.mode == "explicit" else self.time()))
        self._bump()

    def keep(self) -> None:
        """Persist the present time, so that a restart goes on from here."""
        self._store.set_meta(
            "clock", {"mode": self.mode, "speed": self.speed, "time": self.time(), "revision": self.revision}
        )

    def view(self) -> dict[str, float | str | int]:
        """What `GET /_sandbox/clock` shows; `time` is in epoch seconds."""
        return {
            "mode": self.mode,
            "speed": self.speed,
            "time": self.time(),
            "now": self.now().isoformat(),
            "revision": self.revision,
        }

    async def wait_change(self, revision: int, timeout: float) -> None:
        """Return when the revision is no longer `revision`, or after `timeout` wall seconds."""
        deadline = wall.monotonic() + timeout
        while self.revision == revision:
            left = deadline - wall.monotonic()
            if left <= 0:
                return
            try:
                await asyncio.wait_for(self._changed.wait(), left)
            except TimeoutError:
                return

    def _rebase(self, world_time: float) -> None:
        self._base_world, self._base_wall = world_time, wall.monotonic()

    def _bump(self) -> None:
        self.revision += 1
        self.keep()
        self._changed.set()
        self._changed = asyncio.Event()
