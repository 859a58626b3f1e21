"""The stdio bridge, started as a client starts it: same tools, same problems, progress passed on."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from tests.contract.test_mcp import ERAS, body
from tests.faces.conftest import Running, served, service, static
from tests.faces.operations import begin, stages

__all__ = ["service", "stages", "static"]


def bridge(*arguments: str, **env: str) -> StdioServerParameters:
    return StdioServerParameters(command=sys.executable, args=["-m", "instantstart.cli", "mcp", *arguments], env=env)


@pytest.mark.parametrize("mode", ERAS)
async def test_the_bridge(
    service: Running, stages: None, tmp_path: Path, mode: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("instantstart.faces.mcp._PROGRESS_SECONDS", 0.05)
    operation = await begin(service, "await_never")
    heard: list[float] = []

    async def report(progress: float, total: float | None, message: str | None) -> None:
        heard.append(progress)

    token = await service.token()
    async with (
        served(service) as url,
        Client(bridge("--url", url, "--state-dir", str(tmp_path), INSTANTSTART_TOKEN=token), mode=mode) as client,
    ):
        assert client.server_info is not None
        assert client.server_info.name == "hypd-inst"
        names = {t.name for t in (await client.list_tools()).tools}
        assert "operation_wait" in names
        missing = await client.call_tool("operation_get_status", {"operation_id": "op-none"})
        assert missing.is_error
        assert body(missing)["code"] == "operation_not_found"
        waited = await client.call_tool(
            "operation_wait", {"operation_id": operation, "timeout_seconds": 0.5}, progress_callback=report
        )
        assert body(waited)["reason"] == "timeout"
        assert heard


async def test_without_a_service_one_clear_line(tmp_path: Path) -> None:
    import asyncio

    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "instantstart.cli", "mcp", "--state-dir", str(tmp_path),
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, err = await process.communicate()
    assert process.returncode == 1
    assert out == b""
    assert err.decode().startswith("instantstart: No service runs on")
    assert len(err.decode().strip().splitlines()) == 1
