"""A server on loopback that answers as a script says and keeps what it was asked; it can also hang up."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import orjson


@dataclass
class Asked:
    """One request."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return orjson.loads(self.body)


@dataclass
class Answer:
    """One answer; `hang_up` closes the connection after the request was read."""

    status: int = 200
    body: Any = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    hang_up: bool = False
    delay: asyncio.Event | None = None


class Scripted:
    """Answers by the first matching rule, else with the next of `answers`."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.answers: list[Answer] = []
        self.rule: Callable[[Asked], Answer | None] = lambda _: None
        self.url = ""
        self._came = asyncio.Event()

    async def until(self, count: int) -> None:
        """Wait until that many requests have come."""
        while len(self.asked) < count:
            self._came.clear()
            await self._came.wait()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (asked := await _read(reader)) is not None:
                self.asked.append(asked)
                self._came.set()
                answer = self.rule(asked) or (self.answers.pop(0) if self.answers else Answer())
                if answer.delay is not None:
                    await answer.delay.wait()
                if answer.hang_up:
                    break
                body = answer.body if isinstance(answer.body, bytes) else orjson.dumps(answer.body)
                headers = {"content-type": "application/json", "content-length": str(len(body))} | answer.headers
                lines = "".join(f"{k}: {v}\r\n" for k, v in headers.items())
                writer.write(f"HTTP/1.1 {answer.status} X\r\n{lines}\r\n".encode() + body)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


async def _read(reader: asyncio.StreamReader) -> Asked | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    except asyncio.IncompleteReadError:
        return None
    method, target, _ = head[0].split(" ", 2)
    headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in head[1:] if line)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    parts = urlsplit(target)
    query = {k: v[0] for k, v in parse_qs(parts.query).items()}
    return Asked(method, unquote(parts.path), query, headers, body)


@asynccontextmanager
async def scripted() -> AsyncIterator[Scripted]:
    """A running server."""
    server = Scripted()
    running = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    server.url = f"http://127.0.0.1:{running.sockets[0].getsockname()[1]}"
    try:
        yield server
    finally:
        running.close()
