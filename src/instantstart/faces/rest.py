"""Assembles the one ASGI app: the slices' routes under /api/v1, problems, the gate, MCP, the stream, the web UI."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
from fastapi import APIRouter, FastAPI
from starlette.middleware.gzip import GZipMiddleware

from instantstart import __version__
from instantstart.capacity import routes as capacity_routes
from instantstart.clusters import routes as clusters_routes
from instantstart.core.clock import Clock
from instantstart.events.log import EventLog
from instantstart.faces import auth, control, problems, session, stream, web_build
from instantstart.faces.accounts import Accounts
from instantstart.faces.mcp_door import McpDoor
from instantstart.faces.minimal import Minimal
from instantstart.faces.openapi import document
from instantstart.faces.web import WebUi
from instantstart.operations import routes as operations_routes
from instantstart.operations.engine import Engine
from instantstart.operations.services import Services

ROUTERS: tuple[APIRouter, ...] = (
    operations_routes.router,
    capacity_routes.router,
    clusters_routes.router,
    session.router,
    control.router,
)
"""Every router under /api/v1, in the order of the OpenAPI document."""


@dataclass(frozen=True)
class Shown:
    """The settings that faces use or show."""

    port: int
    notice: str = ""
    control_url: str = ""
    allowed_hosts: frozenset[str] = frozenset()
    static: Path = web_build.STATIC
    web_sources: Path = web_build.SOURCES

    @property
    def control(self) -> bool:
        """Whether there is a control interface to pass on to."""
        return bool(self.control_url)


@dataclass(frozen=True)
class Parts:
    """What runs behind the faces; made by `main.py` when the app starts."""

    services: Services
    engine: Engine
    events: EventLog
    accounts: Accounts


Start = Callable[[], AbstractAsyncContextManager[Parts]]


class _Api(FastAPI):
    def openapi(self) -> dict[str, Any]:
        """The document with our problems in it."""
        return document(self)


def make_app(shown: Shown, start: Start) -> FastAPI:
    """The app. `start` is entered when the server starts and left when it stops."""
    mcp = McpDoor()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with start() as parts, httpx2.AsyncClient(trust_env=False) as client, mcp.opening(app):
            app.state.services, app.state.engine = parts.services, parts.engine
            app.state.events, app.state.accounts = parts.events, parts.accounts
            app.state.clock, app.state.control_client = parts.services.clock, client
            yield

    app = _Api(
        title="InstantStart",
        version=__version__,
        openapi_url=f"{auth.API}/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
    )
    app.state.shown = shown
    for router in ROUTERS:
        app.include_router(router, prefix=auth.API)
    app.include_router(stream.router, prefix=auth.API)
    app.add_api_route("/healthz", _health, methods=["GET"], include_in_schema=False)
    app.router.routes.append(mcp.route)
    problems.install(app)
    _wrap(app, shown)
    return app


def _wrap(app: FastAPI, shown: Shown) -> None:
    """Put the middleware around the app; the last one added is the outermost."""
    app.add_middleware(Minimal)
    app.add_middleware(GZipMiddleware, minimum_size=4000, compresslevel=3)
    app.add_middleware(WebUi, static=shown.static, fault=web_build.fault(shown.static, shown.web_sources))
    app.add_middleware(
        auth.Gate,
        accounts=lambda: app.state.accounts,
        now=lambda: _now(getattr(app.state, "clock", None)),
        port=shown.port,
        allowed_hosts=shown.allowed_hosts,
    )


def _now(clock: Clock | None) -> datetime:
    return clock.now() if clock is not None else datetime.now(UTC)


async def _health() -> dict[str, str]:
    """Answers when everything has started."""
    return {"status": "ready", "version": __version__}
