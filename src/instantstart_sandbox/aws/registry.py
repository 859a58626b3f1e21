"""What a simulated service of our own is: a table of operations, each a function of parsed parameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from instantstart_sandbox.world import World

Params = dict[str, Any]


@dataclass
class CallContext:
    """One call: the world it happens in, who makes it, and whether it changed anything."""

    world: World
    principal: str
    region: str
    request_id: str
    service: str = ""
    operation: str = ""
    applied: bool | None = field(default=None)
    """None: the front decides (a changing operation that succeeded has been applied)."""

    @property
    def account_id(self) -> str:
        """The account of the world."""
        return self.world.account.account_id

    def mark_applied(self, applied: bool) -> None:
        """Say whether the call changed something; a token replay or a repeated absolute wish did not."""
        self.applied = applied


Handler = Callable[[CallContext, Params], dict[str, Any]]
"""Gets parameters that fit the botocore input shape; answers what fits the output shape; raises AwsError.

It runs inside one transaction of the store, which an AwsError undoes. What goes to other services (`AwsViews`) is
not undone, so everything is checked before anything is changed there. Times in an answer are epoch seconds.
"""


class ServiceApi(Protocol):
    """A service answered by ourselves. An operation that is not in the table gets an explicit error."""

    service: str
    operations: dict[str, Handler]
