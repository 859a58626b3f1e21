"""A sandbox on free ports with an explicit clock, and the service on it as `up` wires it, reached over ASGI."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import httpx2
import pytest

from instantstart.main import create_app
from instantstart.settings import Settings
from instantstart_sandbox.assembly import Sandbox, build

TOKEN = "journey-admin-token"


@pytest.fixture
async def sandbox(tmp_path: Path) -> AsyncIterator[Sandbox]:
    """The simulated AWS and Kubernetes, serving."""
    sandbox = build(tmp_path / "sandbox", mode="explicit")
    await sandbox.start()
    yield sandbox
    await sandbox.stop()


@pytest.fixture
async def api(sandbox: Sandbox, tmp_path: Path) -> AsyncIterator[httpx2.AsyncClient]:
    """The service's REST API with the admin's token."""
    settings = Settings(
        state_dir=tmp_path / "service",
        aws_endpoint_url=sandbox.url,
        aws_access_key_id="sandbox",
        aws_secret_access_key="sandbox",
        clock_url=f"{sandbox.url}/_sandbox/clock",
        admin_token=TOKEN,
    )
    app = create_app(settings)
    async with app.router.lifespan_context(app):
        transport = httpx2.ASGITransport(app=cast(Any, app))
        headers = {"authorization": f"Bearer {TOKEN}"}
        base = f"http://127.0.0.1:{settings.port}/api/v1"
        async with httpx2.AsyncClient(transport=transport, base_url=base, headers=headers, timeout=60) as client:
            yield client
