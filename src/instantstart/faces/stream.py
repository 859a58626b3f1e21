"""The WebSocket that tells browsers what changed. It carries names and revisions only; state comes from the GETs."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from fastapi import APIRouter, WebSocket, WebSocketDisconnect

from instantstart.core.problem import ProblemError
from instantstart.events.log import Event, EventLog

router = APIRouter()
_RECHECK_SECONDS = 60.0
_SEND_SECONDS = 20.0
_CLOSED, _TOO_SLOW = 1008, 1013


@router.websocket("/stream")
async def stream(socket: WebSocket) -> None:
    """Push `{topic, subject, revision, type}` for every event from now on.

    First comes `{"topic": "stream", "type": "open"}`: whoever was away reads everything again then. A reader that
    takes longer than 20 s for one message is cut off, and so is one whose session or token has ended.
    """
    events: EventLog = socket.app.state.events
    after = await events.last_id()
    await socket.accept()
    tasks = [
        asyncio.create_task(_push(socket, events, after)),
        asyncio.create_task(_drain(socket)),
        asyncio.create_task(_recheck(socket)),
    ]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        code = next(iter(done)).result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    if code is not None:
        with suppress(RuntimeError, WebSocketDisconnect):
            await socket.close(code)


def _line(event: Event) -> dict[str, object]:
    return {"topic": event.topic, "subject": event.subject, "revision": event.revision, "type": event.type}


async def _push(socket: WebSocket, events: EventLog, after: int) -> int | None:
    """Send events until the reader is gone (None) or too slow (its close code)."""
    try:
        await socket.send_json({"topic": "stream", "subject": "", "revision": None, "type": "open"})
        async for batch in events.follow(after):
            newest = {(e.topic, e.subject, e.type): e for e in batch}
            for event in newest.values():
                await asyncio.wait_for(socket.send_json(_line(event)), _SEND_SECONDS)
    except TimeoutError:
        return _TOO_SLOW
    except (WebSocketDisconnect, RuntimeError):
        return None
    return None


async def _drain(socket: WebSocket) -> int | None:
    """Read and ignore what the reader says, until it goes away."""
    try:
        while True:
            await socket.receive_text()
    except (WebSocketDisconnect, KeyError):
        return None


async def _recheck(socket: WebSocket) -> int:
    """Return when the session or token no longer holds."""
    while True:
        await asyncio.sleep(_RECHECK_SECONDS)
        try:
            await socket.state.recheck()
        except ProblemError:
            return _CLOSED
