"""What a stage is: a registered async function that looks, acts at most a little, and says where things stand.

A stage never sleeps and never loops to wait: it answers `Waiting` and the engine calls it again. It may run any
number of times; each run looks before it acts. Every call that changes something outside goes through `ctx.effect`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from instantstart.core.access import Face
from instantstart.core.clock import Clock
from instantstart.core.plan import EffectClass, StageSpec
from instantstart.db.database import Database
from instantstart.operations.schema import InFlight
from instantstart.operations.services import Services

T = TypeVar("T")
Answer = dict[str, Any]


@dataclass(frozen=True)
class Done:
    """The stage reached its goal by acting. `outputs` are JSON-like: ids, ARNs, names."""

    outputs: dict[str, Any] = field(default_factory=dict)
    message: str | None = None
    in_flight: InFlight | None = None
    """What goes on outside until the stage that awaits it is done."""


@dataclass(frozen=True)
class Unchanged:
    """The goal was reached already; nothing was done."""

    outputs: dict[str, Any] = field(default_factory=dict)
    message: str | None = None


@dataclass(frozen=True)
class Waiting:
    """Someone else is at work. The engine calls the stage again after about `poll_after` seconds of the clock.

    `counts` is False while the wait must not count towards the stage's deadline (deep health checks).
    """

    message: str
    attention: str | None = None
    poll_after: float = 15.0
    in_flight: InFlight | None = None
    outputs: dict[str, Any] = field(default_factory=dict)
    counts: bool = True


@dataclass(frozen=True)
class Unproven:
    """The goal cannot be proved now (no schedulable node, say); the operation goes on and says so."""

    message: str
    outputs: dict[str, Any] = field(default_factory=dict)


Result = Done | Unchanged | Waiting | Unproven


class StageContext(Protocol):
    """What a stage is given. Everything in it is for this stage of this operation."""

    operation_id: str
    cluster: str
    """The cluster's tag."""
    spec: StageSpec
    intent: dict[str, Any]
    params: dict[str, Any]
    principal: str
    face: Face
    services: Services
    clock: Clock
    db: Database
    waited: float
    """Seconds of the clock since this attempt of the stage first waited."""

    def outputs(self, stage: str) -> dict[str, Any]:
        """Outputs of another stage of this operation ({} when it has none)."""
        ...

    @property
    def own_outputs(self) -> dict[str, Any]:
        """Outputs this stage has left so far (Waiting may leave some)."""
        ...

    async def token(self, name: str) -> str:
        """A client token of this stage: made and stored before the first use, the same ever after.

        After a consented removal or a refused call (`renew_token`), a new one is made.
        """
        ...

    async def renew_token(self, name: str) -> None:
        """Forget a token, so that the next `token(name)` makes a new one; only when the old one is not in flight."""
        ...

    async def generated(self, name: str, make: Callable[[], Awaitable[T]]) -> T:
        """A generated JSON-like value of this stage (a subnet block, say), stored before it is first used."""
        ...

    async def forget(self, name: str) -> None:
        """Forget a generated value."""
        ...

    async def say(self, message: str) -> None:
        """Show what is being done now."""
        ...

    async def effect(
        self,
        effect: EffectClass,
        name: str,
        subject: str,
        call: Callable[[], Awaitable[Answer]],
        *,
        timeout: float = 10.0,
        evidence: Callable[[], Awaitable[Answer | None]] | None = None,
    ) -> Answer:
        """Send one changing call, and only this way.

        `name` is `service:Operation` (`eks:CreateCluster`, `kubernetes:apply`, `helm:upgrade`), `subject` what it is
        about. The attempt row is committed as `sending` before the call and its answer after it. A lost answer makes
        the engine wait until the request can no longer land, then call the stage again. An effect of class `once`
        is never sent twice: `evidence` is asked whether it took effect; without evidence the stage ends with the
        problem `outcome_unknown`.
        """
        ...


StageFunction = Callable[[StageContext], Awaitable[Result]]


@dataclass(frozen=True)
class StageDefinition:
    """A registered stage. `version` rises when the meaning of its params or outputs changes."""

    name: str
    function: StageFunction
    version: int
    effects: tuple[str, ...]
    """The changing calls it may send, `class service:Operation` each; () for stages that only read."""


REGISTRY: dict[str, StageDefinition] = {}


def stage(name: str, *, version: int = 1, effects: tuple[str, ...] = ()) -> Callable[[StageFunction], StageFunction]:
    """Register a stage function under `name` (starts with ensure_, request_, await_, verify_, remove_ or select_)."""

    def register(function: StageFunction) -> StageFunction:
        if name in REGISTRY:
            raise ValueError(f"stage {name} is defined twice")
        REGISTRY[name] = StageDefinition(name, function, version, effects)
        return function

    return register
