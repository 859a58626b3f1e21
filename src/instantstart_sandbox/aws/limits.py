"""API rates: token buckets per operation, as AWS limits them. AWS publishes few figures; these are of its usual order."""

from __future__ import annotations

import time as wall
from dataclasses import dataclass

from instantstart_sandbox.aws.wire.models import is_read
from instantstart_sandbox.world import World


@dataclass(frozen=True)
class Rate:
    """Calls per second, and how many may come at once."""

    per_second: float
    burst: int


_RATES: dict[tuple[str, str], Rate] = {
    ("sagemaker", "read"): Rate(10, 60),
    ("sagemaker", "write"): Rate(2, 20),
    ("eks", "read"): Rate(10, 60),
    ("eks", "write"): Rate(2, 20),
    ("cloudformation", "read"): Rate(10, 60),
    ("cloudformation", "write"): Rate(2, 20),
    ("service-quotas", "read"): Rate(10, 40),
    ("iam", "read"): Rate(20, 100),
    ("iam", "write"): Rate(5, 50),
    ("ec2", "read"): Rate(20, 100),
    ("ec2", "write"): Rate(5, 50),
    ("ssm", "StartSession"): Rate(3, 3),
    ("logs", "read"): Rate(10, 50),
    ("logs", "write"): Rate(10, 50),
}


class Limits:
    """One bucket for each operation. It fills in world time, and in wall time where the world's clock stands still."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._buckets: dict[tuple[str, str], tuple[float, float, float]] = {}

    def allows(self, service: str, operation: str) -> bool:
        """Take one token; False when the call has to be throttled."""
        kind = "read" if is_read(operation) else "write"
        rate = _RATES.get((service, operation)) or _RATES.get((service, kind))
        if rate is None or not self._world.store.meta("rate_limits", True):
            return True
        now, real = self._world.clock.time(), wall.monotonic()
        level, at, at_real = self._buckets.get((service, operation), (float(rate.burst), now, real))
        passed = max(now - at, real - at_real, 0.0)
        level = min(float(rate.burst), level + passed * rate.per_second)
        allowed = level >= 1
        self._buckets[service, operation] = (level - 1 if allowed else level, now, real)
        return allowed
