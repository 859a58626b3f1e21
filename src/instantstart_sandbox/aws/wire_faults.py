"""Faults of the wire, the same for every service: what goes wrong before, during and after a call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from instantstart_sandbox.aws.errors import (
    AwsError,
    ec2_quota_code,
    quota_code,
    server_error_code,
    throttling_code,
)
from instantstart_sandbox.world import World


class Faulty(Protocol):
    """What a fault is matched against."""

    service: str
    operation: str
    reads: bool

    @property
    def text(self) -> str:
        """Parameters as text."""
        ...


def _take(world: World, kind: str, call: Faulty) -> dict[str, Any] | None:
    if not world.faults.peek(kind, call.service, call.operation, call.text):
        return None
    return world.faults.take(kind, call.service, call.operation, call.text)


def _concerns(world: World, kind: str, call: Faulty) -> bool:
    """Whether a fault about effects concerns this call: a read only when the fault names its operation."""
    named = (f.get("operation") == call.operation for f in world.faults.list() if f["kind"] == kind)
    return not call.reads or any(named)


def refusal(world: World, call: Faulty) -> AwsError | None:
    """The error with which the call is refused before it has any effect."""
    if _take(world, "expired_credentials", call):
        json = call.service not in ("ec2", "iam", "sts", "s3", "cloudformation")
        code = "ExpiredTokenException" if json else "ExpiredToken"
        return AwsError(code, "The security token included in the request is expired", 400 if json else 403)
    if _take(world, "throttling", call):
        return AwsError(*throttling_code(call.service))
    if _take(world, "server_error", call):
        return AwsError(*server_error_code(call.service))
    if _concerns(world, "quota", call) and _take(world, "quota", call):
        code = ec2_quota_code(call.operation) if call.service == "ec2" else quota_code(call.service)
        return AwsError(code, f"The limit of the account for {call.operation} has been reached.", 400)
    return None


def delay_of(world: World, call: Faulty) -> float:
    """Seconds of world time that the answer takes longer."""
    fault = _take(world, "slow", call)
    return float(fault.get("delay_seconds") or 1) if fault else 0.0


def is_late(world: World, call: Any, keep: Callable[[Any, float], None]) -> bool:
    """Whether the connection drops now while the request arrives later; `keep(call, seconds)` is then called."""
    if not _concerns(world, "late_request", call):
        return False
    fault = _take(world, "late_request", call)
    if fault is None:
        return False
    keep(call, float(fault.get("delay_seconds") or 5))
    return True


def is_lost(world: World, call: Faulty) -> bool:
    """Whether the answer of a call that took effect is lost."""
    return _concerns(world, "lost_answer", call) and _take(world, "lost_answer", call) is not None


async def wait(world: World, seconds: float) -> None:
    """Let `seconds` of world time pass."""
    clock = world.clock
    due = clock.time() + seconds
    while seconds and clock.time() < due:
        await clock.wait_change(clock.revision, clock.wall_delay(due) or 5.0)
