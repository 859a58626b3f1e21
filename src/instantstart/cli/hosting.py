"""Runs the ASGI app in this process: binds the port first, starts, says when it is ready, stops on signals."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import socket
from collections.abc import Awaitable, Callable, Iterator

import uvicorn
from fastapi import FastAPI

from instantstart.cli import CliError

_GRACE_SECONDS = 3


def bind(host: str, port: int) -> socket.socket:
    """A listening socket. Raises CliError when the port cannot be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=512, reuse_port=False)
    except (OSError, OverflowError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).partition(" (")[0]
        raise CliError(
            f"Cannot listen on {host} port {port}: {reason}. Stop what uses it, or choose another with --port."
        ) from error


def free_port(host: str = "127.0.0.1") -> int:
    """A port that nobody listens on now."""
    with socket.create_server((host, 0)) as probe:
        return int(probe.getsockname()[1])


def is_free(port: int, host: str = "127.0.0.1") -> bool:
    """Whether this process could listen on the port now."""
    try:
        socket.create_server((host, port)).close()
    except OSError:
        return False
    return True


def _worth_saying(record: logging.LogRecord) -> bool:
    """False for what uvicorn says when a WebSocket is refused with a proper answer."""
    return "without completing handshake" not in record.getMessage()


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the loop: what was started beside the service has to be stopped as well."""
        yield


async def host_app(
    app: FastAPI, sock: socket.socket, stop: asyncio.Event, ready: Callable[[], Awaitable[None]]
) -> None:
    """Serve `app` on `sock` until `stop` is set or a signal comes. `ready` is called once it answers.

    Errors of starting up come out as they are raised.
    """
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    config = uvicorn.Config(
        app,
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        ws="websockets-sansio",
        ws_ping_interval=20,
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    logging.getLogger("uvicorn.error").addFilter(_worth_saying)
    async with app.router.lifespan_context(app):
        server = _Server(config)
        serving = asyncio.create_task(server.serve(sockets=[sock]), name="serve")
        stopping = asyncio.create_task(stop.wait(), name="stop")
        try:
            await _until_started(server, serving)
            await ready()
            await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            server.should_exit = True
            stopping.cancel()
            await serving


async def _until_started(server: _Server, serving: asyncio.Task[None]) -> None:
    while not server.started and not serving.done():  # noqa: ASYNC110 - uvicorn has no event for it
        await asyncio.sleep(0.01)
