"""Operations of the tests' own, with stages that end at once or never."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from instantstart.core.access import Caller
from instantstart.core.plan import Plan, StageSpec
from instantstart.operations.stage import REGISTRY, Done, Result, StageContext, StageDefinition, Waiting
from instantstart.operations.submit import Wish
from tests.faces.conftest import Running

CALLER = Caller("admin", "Ada", "person", "admin", "rest")


@dataclass(frozen=True)
class _Never:
    said: str = "The cluster is being created."

    async def __call__(self, _ctx: StageContext) -> Result:
        return Waiting(self.said)


never = _Never()


async def quick(_ctx: StageContext) -> Result:
    return Done({"id": "x"})


@pytest.fixture
def stages() -> Iterator[None]:
    """Register them for one test."""
    REGISTRY["await_never"] = StageDefinition("await_never", never, 1, ())
    REGISTRY["ensure_quick"] = StageDefinition("ensure_quick", quick, 1, ())
    yield
    del REGISTRY["await_never"], REGISTRY["ensure_quick"]


async def begin(service: Running, *names: str) -> str:
    """Submit an operation with these stages; its id."""
    specs = [StageSpec(name=n, step="eks", title=n, definition=n) for n in names]
    wish = Wish(
        "thing_create", "one", "Create one", {"names": list(names)}, (f"cluster/{names[0]}",), "cluster_get_status"
    )
    plan = Plan(kind="thing_create", cluster="one", summary="", stages=specs)
    return (await service.parts.engine.submit(wish, plan, CALLER)).id
