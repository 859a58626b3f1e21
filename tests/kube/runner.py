"""An engine over a sandbox: runs stages to their end on the sandbox's clock, and counts what they changed."""

from __future__ import annotations

import itertools
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

    async def start(self) -> None:
        self.client = httpx2.AsyncClient(trust_env=False, base_url=self.cluster.sandbox.url)
        self.clock = FollowedClock(await self._reading())
        self.db = Database(sqlite_url(self._folder / "engine.sqlite"))
        await self.db.open()
        made = self.cluster
        self.services = Services(
            made.aws, made.clusters, self._helm, self.clock, self.db, Options(region=made.aws.region)
        )
        self.engine = Engine(self.services, EventLog(self.db, self.clock))
        await self.engine.start()

    async def stop(self) -> None:
        await self.engine.stop(1)
        await self.db.close()
        await self.client.aclose()

    async def run(self, *specs: StageSpec, tries: int = 200) -> OperationView:
        """The operation when nothing of it runs any more."""
        wish = Wish("test", "demo", "Test", {"n": next(self._numbers)}, ("cluster/demo",), "cluster_get_status")
        plan = Plan(kind="test", cluster="demo", summary="", stages=list(specs))
        view = await self.engine.submit(wish, plan, CALLER)
        for _ in range(tries):
            waited = await self.engine.wait(view.id, 0.05)
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
