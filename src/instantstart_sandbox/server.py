"""One uvicorn server on a socket that is already bound; two of them share the event loop."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import uvicorn

from instantstart_sandbox.kube.abort import AbortableProtocol

HOST = "127.0.0.1"


def listen(port: int) -> socket.socket:
    """A listening socket on loopback; OSError when the port is taken."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((HOST, port))
    except OSError:
        sock.close()
        raise
    return sock


class _Quiet(uvicorn.Server):
    """Leaves signals to the process."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Do not touch the signal handlers."""
        yield


class Server:
    """Serves one ASGI application."""

    def __init__(
        self, app: Any, sock: socket.socket, *, certificate: Path | None = None, key: Path | None = None
    ) -> None:
        self._sock = sock
        config = uvicorn.Config(
            app,
            http=AbortableProtocol,
            interface="asgi3",
            proxy_headers=False,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=1,
            timeout_keep_alive=75,
            server_header=False,
            ssl_certfile=str(certificate) if certificate else None,
            ssl_keyfile=str(key) if key else None,
        )
        self._server = _Quiet(config)
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Answers when it serves."""
        self._task = asyncio.create_task(self._server.serve(sockets=[self._sock]))
        while not self._server.started and not self._task.done():  # noqa: ASYNC110 - uvicorn tells it no other way
            await asyncio.sleep(0.005)
        if self._task.done():
            await self._task

    async def stop(self) -> None:
        """End it; open connections are closed after a second."""
        self._server.should_exit = True
        if self._task is not None:
            await self._task
