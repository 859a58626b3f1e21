"""Runs one stage alone, with real clients against a scripted server: what it does is what was asked of the server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, cast

from instantstart.aws.clients import AwsClients
from instantstart.core.clock import FollowedClock, Reading
from instantstart.core.plan import StageSpec
from instantstart.operations.services import Options, Services
from instantstart.operations.stage import REGISTRY, Result


class Bench:
    """A stage's context without an engine: kept values in a dict, effects in a list."""

    operation_id, cluster, principal, face = "op-1", "demo", "admin", "rest"
    waited = 0.0

    def __init__(self, aws: AwsClients, spec: StageSpec, outputs: dict[str, dict[str, Any]] | None = None) -> None:
        clock = FollowedClock(Reading(1_800_000_000.0, "explicit", 1.0, 1))
        nothing = cast(Any, None)
        self.services = Services(aws, nothing, nothing, clock, nothing, Options(region=aws.region))
        self.spec, self.params, self.clock = spec, spec.params, clock
        self.intent: dict[str, Any] = {}
        self.db = nothing
        self.kept: dict[str, Any] = {}
        self.effects: list[tuple[str, str, str]] = []
        self.own_outputs: dict[str, Any] = {}
        self._outputs = outputs or {}

    async def run(self) -> Result:
        """Call the stage once."""
        return await REGISTRY[self.spec.definition].function(cast(Any, self))

    def outputs(self, stage: str) -> dict[str, Any]:
        return self._outputs.get(stage, {})

    async def token(self, name: str) -> str:
        return str(self.kept.setdefault(f"token:{name}", f"token-{len(self.kept)}"))

    async def renew_token(self, name: str) -> None:
        self.kept.pop(f"token:{name}", None)

    async def generated(self, name: str, make: Callable[[], Awaitable[Any]]) -> Any:
        if name not in self.kept:
            self.kept[name] = await make()
        return self.kept[name]

    async def forget(self, name: str) -> None:
        self.kept.pop(name, None)

    async def say(self, message: str) -> None:
        pass

    async def effect(self, effect: str, name: str, subject: str, call: Callable[[], Awaitable[Any]], **_: Any) -> Any:
        assert f"{effect} {name}" in REGISTRY[self.spec.definition].effects, f"{effect} {name} is not declared"
        self.effects.append((effect, name, subject))
        return await call()
