"""An engine over a sandbox: runs stages to their end on the sandbox's clock, and counts what they changed."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx2

from instantstart.core.access import Caller
from instantstart.core.clock import FollowedClock, Reading
from instantstart.core.plan import Plan, StageSpec
from instantstart.db.database import Database, sqlite_url
from instantstart.events.log import EventLog
from instantstart.kube.helm import Helm
from instantstart.operations.engine import Engine
from instantstart.operations.schema import OperationView
from instantstart.operations.seams import AbortedError, Seams
from instantstart.operations.services import Options, Services
from instantstart.operations.submit import Wish
from tests.kube.conftest import Cluster

CALLER = Caller("admin", "Ada", "person", "admin", "rest")


class Runner:
    """Submits stages and moves the clock until they have ended."""

    def __init__(self, cluster: Cluster, helm: Helm, folder: Path) -> None:
        self.cluster, self._helm, self._folder = cluster, helm, folder
        self._numbers = itertools.count(1)
        self._seen = 0

    async def start(self, seams: Seams | None = None) -> None:
        self.client = httpx2.AsyncClient(trust_env=False, base_url=self.cluster.sandbox.url)
        self.clock = FollowedClock(await self._reading())
        self.db = Database(sqlite_url(self._folder / "engine.sqlite"))
        await self.db.open()
        made = self.cluster
        self.services = Services(
            made.aws, made.clusters, self._helm, self.clock, self.db, Options(region=made.aws.region)
        )
        self.engine = Engine(self.services, EventLog(self.db, self.clock), seams)
        await self.engine.start()

    async def stop(self) -> None:
        await self.engine.stop(1)
        await self.db.close()
        await self.client.aclose()

    async def run(self, *specs: StageSpec, tries: int = 200) -> OperationView:
        """The operation when nothing of it runs any more."""
        return await self._until((await self._submit(specs)).id, tries)

    async def run_killed(self, number: int, *specs: StageSpec) -> tuple[OperationView, str | None]:
        """Run, but stop as kill -9 does at seam `number`, then start again; which seam it was, None past the last."""
        seen: list[str] = []
        armed = [True]

        def hook(point: str, stage: str, effect: str) -> None:
            seen.append(f"{point} {stage} {effect}")
            if len(seen) == number and armed:
                raise AbortedError

        await self.stop()
        await self.start(Seams(hook))
        view = await self._submit(specs)
        aborted = asyncio.create_task(self.engine.aborted.wait())
        ended = asyncio.create_task(self._until(view.id, 200))
        await asyncio.wait({aborted, ended}, return_when=asyncio.FIRST_COMPLETED)
        if ended.done():
            aborted.cancel()
            armed.clear()
            return ended.result(), None
        ended.cancel()
        await asyncio.gather(ended, return_exceptions=True)
        for task in list(self.engine._tasks.values()):
            task.cancel()
        await self.db.close()
        await self.client.aclose()
        await self.start()
        return await self._until(view.id, 200), seen[number - 1]

    async def _submit(self, specs: Sequence[StageSpec]) -> OperationView:
        wish = Wish("test", "demo", "Test", {"n": next(self._numbers)}, ("cluster/demo",), "cluster_get_status")
        plan = Plan(kind="test", cluster="demo", summary="", stages=list(specs))
        return await self.engine.submit(wish, plan, CALLER)

    async def _until(self, operation_id: str, tries: int) -> OperationView:
        for _ in range(tries):
            waited = await self.engine.wait(operation_id, 0.05)
            if waited.operation.terminal:
                return waited.operation
            await self.cluster.advance(5)
            self.clock.follow(await self._reading())
        raise AssertionError(waited.operation.model_dump_json(indent=1))

    async def changes(self) -> list[str]:
        """`service operation` of every applied change since the last time this was asked."""
        found: list[str] = []
        while True:
            answer = await self.client.get("/_sandbox/requests", params={"after": self._seen, "limit": 500})
            items: list[dict[str, Any]] = answer.json()["items"]
            if not items:
                return found
            self._seen = items[-1]["seq"]
            found += [f"{i['service']} {i['operation']}" for i in items if i["mutating"] and i["applied"]]

    async def _reading(self) -> Reading:
        found = (await self.client.get("/_sandbox/clock")).json()
        return Reading(float(found["time"]), "explicit", float(found["speed"]), int(found["revision"]))


def states(view: OperationView) -> dict[str, str]:
    """Stage states by name; shows problems where there are some."""
    problems = [f"{s.name}: {s.problem.detail}" for s in view.stages if s.problem]
    assert problems == []
    return {s.name: s.state for s in view.stages}


def outputs(view: OperationView, stage: str) -> dict[str, Any]:
    """Outputs of one stage."""
    return next(s.outputs for s in view.stages if s.name == stage)
