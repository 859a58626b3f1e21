"""The table of behaviours, and the plain ones: run on for ever, sleep, exit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from instantstart_sandbox.workloads.files import Files

Obj = dict[str, Any]


@dataclass
class Call:
    """One run of one container. `time` is world time in epoch seconds."""

    cluster: str
    pod: Obj
    container: Obj
    env: dict[str, str]
    files: Files
    time: float
    restarts: int = 0

    @property
    def image(self) -> str:
        """The image as written in the pod."""
        return str(self.container.get("image", ""))

    @property
    def argv(self) -> list[str]:
        """Command and arguments; empty when the image's own are used."""
        return [*(self.container.get("command") or []), *(self.container.get("args") or [])]


@dataclass
class Turn:
    """What happens now: output lines, then the next turn `after` seconds, or an exit code, or neither (it runs on)."""

    lines: list[str] = field(default_factory=list)
    after: float | None = None
    exit_code: int | None = None
    reason: str = ""
    """Of the end; "" is Completed or Error by the exit code. OOMKilled is told with 137."""
    state: Obj = field(default_factory=dict)
    ready: bool = True
    """Whether a readiness probe would succeed."""


class Behaviour(Protocol):
    """A program, played."""

    stubborn: bool
    """Whether it ignores SIGTERM, so that its pod takes the whole grace period to go."""

    def turn(self, call: Call, state: Obj) -> Turn:
        """The next turn; `state` is {} at first, then what the last turn gave."""


Matcher = Callable[[Call], bool]


class Behaviours:
    """Behaviours in order: the newest that matches a call plays it."""

    def __init__(self) -> None:
        self._rows: list[tuple[Matcher, Behaviour]] = []

    def add(self, matches: Matcher, behaviour: Behaviour) -> None:
        """Add a behaviour; it goes before those that are there."""
        self._rows.insert(0, (matches, behaviour))

    def find(self, call: Call) -> Behaviour:
        """The behaviour of a call."""
        return next((b for matches, b in self._rows if matches(call)), FOREVER)


class Forever:
    """A server: says nothing, never ends."""

    stubborn = False

    def turn(self, call: Call, state: Obj) -> Turn:
        """Run on."""
        return Turn()


class Greeting(Forever):
    """A server that logs how it begins."""

    def __init__(self, *lines: str) -> None:
        self._lines = lines

    def turn(self, call: Call, state: Obj) -> Turn:
        """The first lines, then run on."""
        return Turn(lines=list(self._lines))


class Exit:
    """Ends at once: `true`, `false`, `exit N`."""

    stubborn = False

    def turn(self, call: Call, state: Obj) -> Turn:
        """End with the code that the program gives."""
        return Turn(exit_code=0 if program(call) == "true" else 1)


class Sleep:
    """`sleep N`: nothing until it ends; `sleep infinity` does not end."""

    stubborn = True

    def turn(self, call: Call, state: Obj) -> Turn:
        """Wait, then end."""
        if state:
            return Turn(exit_code=0)
        if call.argv[1:] == ["infinity"]:
            return Turn()
        seconds = parse_seconds(call.argv[1:])
        if seconds is None:
            return Turn(lines=[f"sleep: invalid number '{' '.join(call.argv[1:])}'"], exit_code=1)
        return Turn(after=seconds, state={"slept": True})


def parse_seconds(words: list[str]) -> float | None:
    """The sum of `sleep`'s arguments in seconds; None when one is no time."""
    units = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
    total = 0.0
    for word in words:
        unit = units.get(word[-1:])
        number = word[:-1] if unit else word
        try:
            total += float(number) * (unit or 1.0)
        except ValueError:
            return None
    return total if words else None


FOREVER = Forever()


def program(call: Call) -> str:
    """The program's name without its path; "" when the image decides."""
    return call.argv[0].rpartition("/")[2] if call.argv else ""
