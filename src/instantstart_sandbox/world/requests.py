"""The request log: every call that reached an endpoint, whether it changed something, and what came of it.

Rows are written in the transaction of the effect they describe, so a crash never separates the two.
"""

from __future__ import annotations

from typing import Any

import orjson

from instantstart_sandbox.world.clock import WorldClock
from instantstart_sandbox.world.store import Store

_KEEP = 200_000


class RequestLog:
    """Rows {seq, time, service, operation, request_id, mutating, applied, params, status}."""

    def __init__(self, store: Store, clock: WorldClock) -> None:
        self._store, self._clock = store, clock
        row = store.db.execute("select max(seq) from request").fetchone()
        self._seq: int = row[0] or 0
        store.on_rollback.append(self._reload)

    def _reload(self) -> None:
        row = self._store.db.execute("select max(seq) from request").fetchone()
        self._seq = row[0] or 0

    def record(
        self,
        service: str,
        operation: str,
        request_id: str,
        *,
        mutating: bool,
        applied: bool,
        params: dict[str, Any],
        status: int,
    ) -> None:
        """Append one row; `applied` is false for reads, token replays, refusals and applies that changed nothing."""
        self._seq += 1
        row = {
            "seq": self._seq,
            "time": self._clock.now().isoformat(),
            "service": service,
            "operation": operation,
            "request_id": request_id,
            "mutating": mutating,
            "applied": applied,
            "params": params,
            "status": status,
        }
        self._store.db.execute("insert into request values (?, ?)", (self._seq, orjson.dumps(row, default=str)))
        if self._seq % 10_000 == 0:
            self._store.db.execute("delete from request where seq <= ?", (self._seq - _KEEP,))

    def page(self, after: int = 0, limit: int = 1000) -> dict[str, Any]:
        """Rows with seq > `after`; `next` is the `after` of the following page, None at the end."""
        found = self._store.db.execute(
            "select body from request where seq > ? order by seq limit ?", (after, limit + 1)
        ).fetchall()
        items = [orjson.loads(row[0]) for row in found[:limit]]
        return {"items": items, "next": items[-1]["seq"] if len(found) > limit else None}
