"""The app with its own start-up, for clients that run it in a loop of their own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI

from tests.faces import conftest


def app_for(path: Path, static: Path) -> FastAPI:
    """An app whose lifespan starts everything; `app.state.running` is there once it runs."""
    app = FastAPI()

    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        async with conftest.running(path, static) as one:
            inner.append(one.app)
            app.state.running = one
            yield

    inner: list[FastAPI] = []

    async def forward(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await FastAPI.__call__(app, scope, receive, send)
        else:
            await inner[0](scope, receive, send)

    app.router.lifespan_context = lifespan
    forward.state = app.state  # type: ignore[attr-defined]
    return forward  # type: ignore[return-value]
