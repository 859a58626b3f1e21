"""Watches: past changes from the window, then live ones; selector transitions, bookmarks, streaming lists."""

from __future__ import annotations

import asyncio
import time as wall
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

import orjson

from instantstart_sandbox.kube import listing, printing
from instantstart_sandbox.kube.catalog import Kind
from instantstart_sandbox.kube.engine import Engine
from instantstart_sandbox.kube.listing import Selection
from instantstart_sandbox.kube.status import ApiError, expired
from instantstart_sandbox.kube.store import Change, ClusterState
from instantstart_sandbox.kube.wire import Request, Response

Obj = dict[str, Any]
_BOOKMARK_EVERY = 60.0
_BOOKMARK_BEFORE_END = 2.0
_DEFAULT_TIMEOUT = 1800


@dataclass
class _Plan:
    """A watch that is about to begin."""

    kind: Kind
    chosen: Selection
    shape: Callable[[Obj, bool], bytes]
    bookmarks: bool
    initial: bool
    start: int | None
    timeout: float


def begin(engine: Engine, state: ClusterState, request: Request, kind: Kind, chosen: Selection) -> Response:
    """A streaming answer; ApiError for bad options."""
    listing.check_options(request, watch=True)
    text = request.arg("resourceVersion")
    if text and not text.isdigit():
        message = f'resourceVersion: Invalid value: "{text}": strconv.ParseUint: parsing "{text}": invalid syntax'
        raise ApiError(500, "", message)
    initial = request.flag("sendInitialEvents")
    start = None if text in ("", "0") else int(text)
    timeout = listing.number(request, "timeoutSeconds") or _DEFAULT_TIMEOUT
    shape = printing.event_shape(engine, request, kind, state.table(kind.key))
    plan = _Plan(kind, chosen, shape, request.flag("allowWatchBookmarks"), initial, start, float(timeout))
    watch = _Watch(engine, state, plan)
    content = "application/json"
    return Response(200, content_type=content, stream=watch.run)


class _Watch:
    def __init__(self, engine: Engine, state: ClusterState, plan: _Plan) -> None:
        self.engine, self.state, self.plan = engine, state, plan
        self.table = state.table(plan.kind.key)
        self.queue: asyncio.Queue[Change | None] = asyncio.Queue()
        self.last = state.version
        self.first = True
        self.seen_now = state.version
        self.backlog = self._backlog()
        self.table.listeners.append(self.queue.put_nowait)
        engine.store.on_cluster_end.append(self._ended)

    def _ended(self, cluster: str) -> None:
        if cluster == self.state.name:
            self.queue.put_nowait(None)

    def _event(self, kind: str, obj: Obj) -> bytes:
        body = self.plan.shape(obj, self.first)
        self.first = False
        return b'{"type":"' + kind.encode() + b'","object":' + body + b"}\n"

    def _error(self, error: ApiError) -> bytes:
        return orjson.dumps({"type": "ERROR", "object": error.body()}) + b"\n"

    def _bookmark(self, ends_initial: bool = False) -> bytes:
        meta: Obj = {"resourceVersion": str(self.last)}
        if ends_initial:
            meta["annotations"] = {"k8s.io/initial-events-end": "true"}
        body = printing.bookmark(self.plan.kind, meta)
        return orjson.dumps({"type": "BOOKMARK", "object": body}) + b"\n"

    def _backlog(self) -> list[bytes] | None:
        """What comes before live changes; None when the start is too long ago."""
        plan, out = self.plan, []
        if plan.initial or plan.start is None:
            for entry in self.table.scan(plan.chosen.namespace, plan.chosen.node):
                if plan.chosen.takes(entry.obj):
                    out.append(self._event("ADDED", entry.obj))
            if plan.initial and plan.bookmarks:
                out.append(self._bookmark(ends_initial=True))
            return out
        if plan.start < max(self.table.floor, self.state.start - 1):
            return None
        for change in self.table.history:
            if change.version > plan.start and (event := self._translate(change)):
                out.append(event)
        return out

    def _translate(self, change: Change) -> bytes | None:
        """The event as this selection sees it; None when it does not concern it."""
        takes = self.plan.chosen.takes
        now = change.kind != "DELETED" and takes(change.obj)
        before = change.old is not None and takes(change.old)
        self.last = change.version
        if now:
            return self._event("MODIFIED" if before else "ADDED", change.obj)
        if before:
            gone = change.obj
            if change.kind != "DELETED" and change.old is not None:
                meta = {**change.old["metadata"], "resourceVersion": change.obj["metadata"]["resourceVersion"]}
                gone = {**change.old, "metadata": meta}
            return self._event("DELETED", gone)
        return None

    async def run(self) -> AsyncIterator[bytes]:
        """Events as lines, until the time is over or the client is gone."""
        try:
            async for line in self._lines():
                yield line
        finally:
            self.table.listeners.remove(self.queue.put_nowait)
            self.engine.store.on_cluster_end.remove(self._ended)

    async def _lines(self) -> AsyncIterator[bytes]:
        if self.backlog is None:
            yield self._error(expired(f"too old resource version: {self.plan.start} ({self.state.version})"))
            return
        if self.backlog:
            yield b"".join(self.backlog)
            self.backlog = []
        end = wall.monotonic() + self.plan.timeout
        mark = min(wall.monotonic() + _BOOKMARK_EVERY, end - _BOOKMARK_BEFORE_END)
        if mark < wall.monotonic() or not self.plan.bookmarks:
            mark = end + 1
        while (left := end - wall.monotonic()) > 0:
            try:
                change = await asyncio.wait_for(self.queue.get(), max(0.001, min(left, mark - wall.monotonic())))
            except TimeoutError:
                if wall.monotonic() >= mark:
                    self.last = max(self.last, self.state.version)
                    yield self._bookmark()
                    late = end - _BOOKMARK_BEFORE_END
                    mark = end + 1 if wall.monotonic() >= late else min(wall.monotonic() + _BOOKMARK_EVERY, late)
                continue
            if change is None:
                return
            if change.version == -1:
                yield self._error(expired("too old resource version"))
                return
            if self.plan.start is not None and change.version <= self.plan.start:
                continue
            if event := self._translate(change):
                yield event


GONE = Change(-1, "ERROR", {}, None)


def break_all(state: ClusterState) -> None:
    """End every watch of a cluster with 410 and forget the window, so that clients must list again."""
    for table in state.tables.values():
        table.floor = state.version
        table.history.clear()
        for listener in list(table.listeners):
            listener(GONE)
