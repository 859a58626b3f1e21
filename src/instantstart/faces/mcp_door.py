"""The door of /mcp: loads the MCP face a little after the start, or at the first call, so that pages come sooner.

The protocol library takes longer to load than everything that the first page needs.
"""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

_QUIET_SECONDS = 2.0


class McpDoor:
    """The route of /mcp, and the task that opens it."""

    def __init__(self) -> None:
        self.route = Route("/mcp", endpoint=_Endpoint(self), methods=["GET", "POST", "DELETE"], include_in_schema=False)
        self._wanted = asyncio.Event()
        self._face: asyncio.Future[Any] | None = None

    @asynccontextmanager
    async def opening(self, app: FastAPI) -> AsyncIterator[None]:
        """Open the door in the background, and keep it open until the block ends."""
        self._face = asyncio.get_running_loop().create_future()
        done = asyncio.Event()
        task = asyncio.create_task(self._hold(app, self._face, done), name="mcp")
        task.add_done_callback(self._closed)
        try:
            yield
        finally:
            self._wanted.set()
            done.set()
            await task

    async def _hold(self, app: FastAPI, face: asyncio.Future[Any], done: asyncio.Event) -> None:
        try:
            await asyncio.wait_for(self._wanted.wait(), _QUIET_SECONDS)
        except TimeoutError:
            self._wanted.set()
        if done.is_set():
            return
        module = await asyncio.to_thread(importlib.import_module, "instantstart.faces.mcp")
        async with module.McpFace().running(app) as running:
            face.set_result(running)
            await done.wait()

    def _closed(self, task: asyncio.Task[None]) -> None:
        """Tell those who still wait at the door why it does not open."""
        if self._face is not None and not self._face.done():
            error = None if task.cancelled() else task.exception()
            self._face.set_exception(error or ConnectionAbortedError("the service is stopping"))
            self._face.exception()

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, once the face is there."""
        if self._face is None:
            raise RuntimeError("the MCP door is not being opened")
        self._wanted.set()
        face = await asyncio.shield(self._face)
        await face.handle(scope, receive, send)


class _Endpoint:
    """An ASGI app for the route (a bound method would be taken for a request handler)."""

    def __init__(self, door: McpDoor) -> None:
        self._door = door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._door.handle(scope, receive, send)
