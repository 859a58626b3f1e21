"""An engine over a database file and a clock that tests move; stages of the tests' own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, cast

import pytest

from instantstart.core.access import Caller
from instantstart.core.clock import FollowedClock, Reading
from instantstart.core.plan import Plan, StageSpec
from instantstart.db.database import Database, sqlite_url
from instantstart.events.log import EventLog
from instantstart.operations.engine import Engine
from instantstart.operations.schema import OperationView
from instantstart.operations.seams import Seams
from instantstart.operations.services import Options, Services
from instantstart.operations.stage import REGISTRY, StageDefinition, StageFunction
from instantstart.operations.submit import Wish

CALLER = Caller("admin", "Ada", "person", "admin", "rest")
START = 1_800_000_000.0


class World:
    """What the stages of these tests change: it counts every effect, like the sandbox does."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.things: set[str] = set()

    async def create(self, name: str) -> dict[str, Any]:
        self.calls.append(name)
        self.things.add(name)
        return {"ResponseMetadata": {"RequestId": f"req-{len(self.calls)}"}}


class Bench:
    """Starts, stops and 'crashes' engines on one database."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.world = World()
        self.clock = FollowedClock(Reading(START, "explicit", 1.0, 1))
        self.engine: Engine
        self.services: Services
        self.now = START

    async def start(self, seams: Seams | None = None) -> Engine:
        db = Database(sqlite_url(self.path))
        await db.open()
        nothing = cast(Any, None)
        self.services = Services(nothing, nothing, nothing, self.clock, db, Options(region="us-west-2"))
        self.engine = Engine(self.services, EventLog(db, self.clock), seams)
        await self.engine.start()
        return self.engine

    async def crash(self) -> None:
        """As kill -9: tasks vanish, nothing more is written."""
        for task in list(self.engine._tasks.values()):
            task.cancel()
        await self.services.db.close()

    async def stop(self) -> None:
        await self.engine.stop(1)
        await self.services.db.close()

    def advance(self, seconds: float) -> None:
        self.now += seconds
        self.clock.follow(Reading(self.now, "explicit", 1.0, self.clock.revision + 1))

    async def submit(self, *specs: StageSpec, kind: str = "thing_create", **intent: Any) -> OperationView:
        wish = Wish(kind, "one", "Create one", intent, ("cluster/one",), "cluster_get_status")
        plan = Plan(kind=kind, cluster="one", summary="", stages=list(specs))
        return await self.engine.submit(wish, plan, CALLER)

    async def until(self, operation_id: str, *, seconds: float = 0.0, tries: int = 400) -> OperationView:
        """Advance the clock step by step until the operation has ended."""
        for _ in range(tries):
            waited = await self.engine.wait(operation_id, 0.02)
            if waited.operation.terminal:
                return waited.operation
            self.advance(seconds or 5.0)
        raise AssertionError(f"not ended: {(await self.engine.view(operation_id)).model_dump_json(indent=1)}")

    async def settle(self, operation_id: str, done: Callable[[OperationView], bool]) -> OperationView:
        """Wait, without moving the clock, until the operation looks as wished."""
        for _ in range(200):
            view = (await self.engine.wait(operation_id, 0.02)).operation
            if done(view):
                return view
        raise AssertionError(view.model_dump_json(indent=1))


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    bench = Bench(tmp_path / "db.sqlite")
    await bench.start()
    yield bench
    await bench.stop()


@pytest.fixture
def define() -> Any:
    """Register stages for one test."""
    names: list[str] = []

    def register(name: str, function: StageFunction, version: int = 1) -> StageSpec:
        REGISTRY[name] = StageDefinition(name, function, version, ())
        names.append(name)
        return spec(name)

    yield register
    for name in names:
        REGISTRY.pop(name, None)


def spec(name: str, *needs: str, **more: Any) -> StageSpec:
    return StageSpec(name=name, step="eks", title=name, needs=list(needs), definition=name, **more)


Define = Callable[..., StageSpec]
Call = Callable[[], Awaitable[dict[str, Any]]]
