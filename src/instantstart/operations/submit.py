"""Saves a new operation: same request, same operation; other intent on the same keys, a conflict; else a new row."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import orjson
from sqlalchemy.ext.asyncio import AsyncConnection

from instantstart.core.access import Caller
from instantstart.core.ids import new_id
from instantstart.core.plan import Plan
from instantstart.core.problem import ProblemKind
from instantstart.operations import store
from instantstart.operations.ending import record_request
from instantstart.operations.problems import OPERATION_IN_PROGRESS


@dataclass(frozen=True)
class Wish:
    """A validated request for a change, before it is planned. `keys` name what it touches, e.g. `cluster/x`."""

    kind: str
    cluster: str | None
    title: str
    intent: dict[str, Any]
    keys: tuple[str, ...]
    verify_with: str
    conflict: ProblemKind = OPERATION_IN_PROGRESS

    @property
    def digest(self) -> str:
        """SHA-256 of kind, cluster and intent: the same request has the same digest."""
        body = {"kind": self.kind, "cluster": self.cluster, "intent": self.intent}
        return hashlib.sha256(orjson.dumps(body, option=orjson.OPT_SORT_KEYS)).hexdigest()


def overlap(one: str, other: str) -> bool:
    """Whether two keys touch: equal, or one lies under the other (`cluster/x`, `cluster/x/group/y`)."""
    return one == other or one.startswith(f"{other}/") or other.startswith(f"{one}/")


def _touches(keys: tuple[str, ...], row: dict[str, Any]) -> bool:
    return any(overlap(a, b) for a in keys for b in row["keys"])


async def standing(conn: AsyncConnection, wish: Wish) -> str | None:
    """Id of the active operation with this very request, or None. Raises the wish's conflict for another one."""
    rows = await store.candidates(conn, None, store.ACTIVE)
    for row in rows:
        if row["intent_hash"] == wish.digest:
            return str(row["id"])
    for row in rows:
        if _touches(wish.keys, row):
            raise wish.conflict(
                f"{row['title']} is {row['state']} (operation {row['id']}, asked for by {row['requested_by']}).",
                remedy="Wait for that operation with operation_wait, or cancel it, then send this again.",
                data={"operation": row["id"], "kind": row["kind"]},
            )
    return None


async def save_new(conn: AsyncConnection, wish: Wish, plan: Plan, caller: Caller, now: float) -> dict[str, Any]:
    """Insert the operation with its stages; ended ones on the same keys are superseded. Returns the row."""
    operation_id = new_id("op-")
    for old in await store.candidates(conn, None, ("failed", "cancelled")):
        if any(k == o or o.startswith(f"{k}/") for k in wish.keys for o in old["keys"]):
            await store.save_operation(
                conn, old["id"], state="superseded", superseded_by=operation_id, revision=old["revision"] + 1
            )
    row = {
        "id": operation_id,
        "kind": wish.kind,
        "cluster": wish.cluster,
        "title": wish.title,
        "state": "queued",
        "revision": 1,
        "intent": wish.intent,
        "intent_hash": wish.digest,
        "plan": plan.model_dump(mode="json"),
        "problem": None,
        "keys": list(wish.keys),
        "principal": caller.principal,
        "requested_by": caller.name,
        "face": caller.face,
        "verify_with": wish.verify_with,
        "cancel_requested": False,
        "left_behind": [],
        "created_at": now,
    }
    await store.insert_operation(conn, row, plan.stages)
    await record_request(conn, row, plan, now)
    return row
