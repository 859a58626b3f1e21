"""A service with real database, engine and faces, reached over ASGI; AWS and Kubernetes are absent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import httpx2
import pytest
import uvicorn
from fastapi import FastAPI

from instantstart.cli.hosting import bind
from instantstart.core.clock import FollowedClock, Reading
from instantstart.core.problem import UPSTREAM
from instantstart.db.database import Database, sqlite_url
from instantstart.events.log import EventLog
from instantstart.faces.accounts import Accounts
from instantstart.faces.rest import Parts, Shown, make_app
from instantstart.operations.engine import Engine
from instantstart.operations.services import Options, Services

PORT = 3099
ADMIN_TOKEN = "test-admin-token"
START = 1_800_000_000.0


class NoAws:
    """AWS that cannot be reached."""

    async def account(self) -> Any:
        raise UPSTREAM("AWS cannot be reached.")


class Running:
    """One running app, and ways to talk to it."""

    def __init__(self, app: FastAPI, parts: Parts) -> None:
        self.app, self.parts = app, parts

    @property
    def accounts(self) -> Accounts:
        return self.parts.accounts

    def client(self, token: str | None = ADMIN_TOKEN, **headers: str) -> httpx2.AsyncClient:
        """A client with a bearer token, or an anonymous one."""
        if token is not None:
            headers["authorization"] = f"Bearer {token}"
        transport = httpx2.ASGITransport(app=cast(Any, self.app), raise_app_exceptions=False)
        return httpx2.AsyncClient(transport=transport, base_url=f"http://127.0.0.1:{PORT}", headers=headers)

    async def token(self, kind: Any = "agent", role: Any = "operator", seconds: float | None = None) -> str:
        """A bearer token of a new principal."""
        owner = await self.accounts.make_principal("somebody", kind, role)
        return (await self.accounts.make_secret(owner, "bearer", seconds)).text


def clock() -> FollowedClock:
    return FollowedClock(Reading(START, "explicit", 1.0, 1))


@asynccontextmanager
async def running(path: Path, static: Path, **shown: Any) -> AsyncIterator[Running]:
    """The app over a database at `path`, with its lifespan entered."""
    made: list[Parts] = []

    @asynccontextmanager
    async def start() -> AsyncIterator[Parts]:
        db = Database(sqlite_url(path))
        await db.open()
        nothing, time = cast(Any, None), clock()
        services = Services(cast(Any, NoAws()), nothing, nothing, time, db, Options(region="us-west-2"))
        accounts, events = Accounts(db), EventLog(db, time)
        await accounts.ensure_admin(ADMIN_TOKEN)
        engine = Engine(services, events)
        await engine.start()
        made.append(Parts(services, engine, events, accounts))
        yield made[0]
        await engine.stop(1)
        await db.close()

    app = make_app(Shown(port=PORT, static=static, web_sources=static / "none", **shown), start)
    async with app.router.lifespan_context(app):
        yield Running(app, made[0])


@asynccontextmanager
async def served(service: Running) -> AsyncIterator[str]:
    """The app on a real port; its address."""
    sock = bind("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(service.app, lifespan="off", log_config=None, ws="websockets-sansio"))
    task = asyncio.create_task(server.serve(sockets=[sock]))
    while not server.started:  # noqa: ASYNC110 - uvicorn has no event for it
        await asyncio.sleep(0.005)
    yield f"http://127.0.0.1:{sock.getsockname()[1]}"
    server.should_exit = True
    await task


@pytest.fixture
def static(tmp_path: Path) -> Path:
    """A built web UI in small."""
    folder = tmp_path / "static"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html><title>InstantStart</title>")
    (folder / "assets" / "main-abc123.js").write_text("export const x = 1;\n" * 200)
    return folder


@pytest.fixture
async def service(tmp_path: Path, static: Path) -> AsyncIterator[Running]:
    async with running(tmp_path / "db.sqlite", static, notice="A notice.") as one:
        yield one
