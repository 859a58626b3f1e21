"""Where tests stop an operation as a crash would: before a call, after it, after its answer is committed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

Point = Literal["stage_start", "before_call", "after_call", "after_commit", "stage_end"]


class AbortedError(BaseException):
    """Raised by a seam to stop the conductor where it stands, with nothing more written."""


class Seams:
    """Calls `hook(point, stage, effect)` at every seam; the hook raises AbortedError to stop there."""

    def __init__(self, hook: Callable[[Point, str, str], None] | None = None) -> None:
        self._hook = hook

    def at(self, point: Point, stage: str, effect: str = "") -> None:
        """Tell the hook, if there is one."""
        if self._hook is not None:
            self._hook(point, stage, effect)
