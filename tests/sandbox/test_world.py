"""The whole sandbox: its charts are what the product's chart table reads, and a world that breaks does not look alive."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import httpx2

from instantstart.kube.charts import load_charts
from instantstart_sandbox.__main__ import _write_down
from instantstart_sandbox.assembly import build


async def test_charts_are_served_where_the_table_says(tmp_path: Path) -> None:
    sandbox = build(tmp_path, mode="explicit")
    await sandbox.start()
    _write_down(sandbox)
    table = load_charts(str(tmp_path / "charts.json"), allow_unverified=False)
    rows = json.loads((tmp_path / "charts.json").read_text())
    assert set(rows) <= set(table.rows)
    async with httpx2.AsyncClient(trust_env=False) as client:
        for row in rows.values():
            answer = await client.get(row["url"])
            assert answer.status_code == 200 and answer.content[:2] == b"\x1f\x8b"
    await sandbox.stop()


async def test_a_handler_that_breaks_ends_the_world(tmp_path: Path) -> None:
    def breaks(_key: str, _payload: object) -> None:
        raise ZeroDivisionError

    sandbox = build(tmp_path, mode="auto", speed=60)
    await sandbox.start()
    sandbox.world.timers.on("test.breaks", breaks)
    sandbox.world.timers.after(0, "test.breaks", "one")
    assert sandbox.broken is not None
    error = await asyncio.wait_for(sandbox.broken, 5)
    assert isinstance(error, ZeroDivisionError)
    await sandbox.stop()
