"""One world: the parts every simulated service is given, and the facts of the account it plays."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from instantstart_sandbox.world.clock import Mode, WorldClock
from instantstart_sandbox.world.faults import Faults
from instantstart_sandbox.world.ids import Ids
from instantstart_sandbox.world.requests import RequestLog
from instantstart_sandbox.world.store import Store
from instantstart_sandbox.world.timers import Timers, Work


@dataclass(frozen=True)
class Account:
    """The account and region the world plays. Zone names pair with zone ids by position, as EC2 tells them here."""

    account_id: str = "123456789012"
    region: str = "us-west-2"
    zones: tuple[str, ...] = ("us-west-2a", "us-west-2b", "us-west-2c", "us-west-2d")
    zone_ids: tuple[str, ...] = ("usw2-az2", "usw2-az1", "usw2-az3", "usw2-az4")
    caller: str = "arn:aws:iam::123456789012:role/sandbox-admin"
    """The principal behind the credentials that `sandbox env` hands out, seen by STS as an assumed role."""

    def zone_name(self, zone: str) -> str | None:
        """The zone's name for a name or an id; None when there is no such zone."""
        pairs = dict(zip(self.zone_ids, self.zones, strict=True))
        return zone if zone in self.zones else pairs.get(zone)

    def zone_id(self, zone: str) -> str | None:
        """The zone's id for a name or an id; None when there is no such zone."""
        pairs = dict(zip(self.zones, self.zone_ids, strict=True))
        return zone if zone in self.zone_ids else pairs.get(zone)


class World:
    """Everything a simulated service needs; built once per process."""

    def __init__(
        self,
        state_dir: Path | None = None,
        *,
        mode: Mode | None = None,
        speed: float | None = None,
        seed: str = "instantstart",
        account: Account | None = None,
    ) -> None:
        self.state_dir = state_dir
        self.account = account or Account()
        self.store = Store(state_dir / "world.sqlite" if state_dir else None)
        self.clock = WorldClock(self.store, mode, speed)
        self.ids = Ids(self.store, seed)
        self.work = Work(self.store)
        self.timers = Timers(self.store, self.clock, self.work)
        self.faults = Faults(self.store, self.ids)
        self.requests = RequestLog(self.store, self.clock)
