"""Wires settings → clients → engine → app. The only reader of settings; every client is built here, explicitly."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Literal

import httpx2
from fastapi import FastAPI

from instantstart.aws.clients import AwsClients, StaticCredentials
from instantstart.core.clock import Clock, FollowedClock, Reading, WallClock
from instantstart.db.database import Database
from instantstart.events.log import EventLog
from instantstart.faces.accounts import Accounts
from instantstart.faces.rest import Parts, Shown, make_app
from instantstart.kube.charts import load_charts
from instantstart.kube.clusters import KubeClusters
from instantstart.kube.helm import Helm
from instantstart.operations.engine import Engine
from instantstart.operations.services import Options, Services
from instantstart.settings import Settings
from instantstart.state_folder import StateFolder

log = logging.getLogger(__name__)
_HOLD_SECONDS = 25
_FIRST_READING_SECONDS = 20.0


class StartError(Exception):
    """The service cannot start; the text says why and what to do."""


def create_app(settings: Settings) -> FastAPI:
    """The service as an ASGI app. Its lifespan opens and closes everything behind it; it may raise StartError."""
    configure_logging(settings.log_level)
    shown = Shown(
        port=settings.port,
        notice=settings.notice,
        control_url=settings.control_url,
        allowed_hosts=frozenset({*settings.allowed_hosts, settings.host.lower()} - {"0.0.0.0", "::", ""}),  # noqa: S104
    )
    return make_app(shown, lambda: _parts(settings))


def configure_logging(level: str) -> None:
    """Send what the service has to say to standard error, one line each."""
    number = logging.getLevelNamesMapping()[level.upper()]
    logging.basicConfig(level=number, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    for noisy in (
        "httpx",
        "httpx2",
        "httpcore",
        "httpcore2",
        "mcp",
        "botocore",
        "urllib3",
        "sse_starlette",
        "alembic",
        "uvicorn",
    ):
        logging.getLogger(noisy).setLevel(max(number, logging.WARNING))


@asynccontextmanager
async def _parts(settings: Settings) -> AsyncIterator[Parts]:
    """Everything behind the faces, opened in order and closed in the opposite one."""
    async with AsyncExitStack() as stack:
        folder = StateFolder(settings.state_dir)
        folder.make()
        if not settings.database_url and not stack.enter_context(folder.lock("service")):
            raise StartError(f"Another service is running on {folder.path}. Stop it, or choose another --state-dir.")
        clock = await stack.enter_async_context(_clock(settings.clock_url))
        db = Database(settings.database)
        await db.open()
        stack.push_async_callback(db.close)
        services = _services(settings, clock, db, folder.path / "helm")
        stack.push_async_callback(services.aws.close)
        stack.push_async_callback(services.kube.close)
        accounts = Accounts(db)
        await accounts.ensure_admin(settings.admin_token or None)
        events = EventLog(db, clock)
        engine = Engine(services, events)
        await engine.start()
        stack.push_async_callback(engine.stop)
        yield Parts(services, engine, events, accounts)


def _services(settings: Settings, clock: Clock, db: Database, cache: Path) -> Services:
    credentials = None
    if settings.aws_access_key_id:
        credentials = StaticCredentials(settings.aws_access_key_id, settings.aws_secret_access_key)
    aws = AwsClients(region=settings.region, endpoint_url=settings.aws_endpoint_url or None, credentials=credentials)
    kube = KubeClusters(aws, clock)
    try:
        table = load_charts(settings.chart_sources or None, allow_unverified=settings.allow_unverified_charts)
    except ValueError as error:
        raise StartError(f"{error} Check the setting chart_sources.") from error
    helm = Helm(kube, helm_path=settings.helm_path or None, cache_dir=cache, charts=table)
    options = Options(
        region=settings.region,
        bucket=settings.bucket or None,
        service_role_arn=settings.service_role_arn or None,
    )
    return Services(aws, kube, helm, clock, db, options)


@asynccontextmanager
async def _clock(url: str) -> AsyncIterator[Clock]:
    """The wall clock, or the clock at `url`, followed while the block runs."""
    if not url:
        yield WallClock()
        return
    async with httpx2.AsyncClient(trust_env=False, timeout=_HOLD_SECONDS + 15.0) as client:
        clock = FollowedClock(await _first_reading(client, url))
        task = asyncio.create_task(_follow(client, url, clock), name="follow clock")
        try:
            yield clock
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


async def _first_reading(client: httpx2.AsyncClient, url: str) -> Reading:
    deadline = time.monotonic() + _FIRST_READING_SECONDS
    while True:
        try:
            return await _read(client, url, None)
        except (httpx2.HTTPError, ValueError, KeyError) as error:
            if time.monotonic() > deadline:
                raise StartError(
                    f"The clock at {url} does not answer: {error}. Check the setting clock_url."
                ) from error
            await asyncio.sleep(0.1)


async def _follow(client: httpx2.AsyncClient, url: str, clock: FollowedClock) -> None:
    """Hold one request open at the clock; each answer is a new reading."""
    while True:
        try:
            clock.follow(await _read(client, url, clock.revision))
        except (httpx2.HTTPError, ValueError, KeyError) as error:
            log.warning("the clock at %s is lost: %s", url, error)
            await asyncio.sleep(1.0)


async def _read(client: httpx2.AsyncClient, url: str, revision: int | None) -> Reading:
    params = {} if revision is None else {"revision": revision, "wait": _HOLD_SECONDS}
    answer = await client.get(url, params=params)
    answer.raise_for_status()
    found = answer.json()
    mode: Literal["auto", "explicit"] = "explicit" if found["mode"] == "explicit" else "auto"
    return Reading(float(found["time"]), mode, float(found["speed"]), int(found["revision"]))
