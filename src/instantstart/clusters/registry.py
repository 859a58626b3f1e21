"""The product's own record of clusters, and which one each caller has selected. Reality is always asked as well."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from instantstart.core import names
from instantstart.db.database import Database
from instantstart.db.tables import cluster, event, selection


@dataclass(frozen=True)
class Entry:
    """One cluster that the product began and has not deleted."""

    tag: str
    eks_name: str
    hyperpod_name: str
    facts: dict[str, Any]
    """Choices of its creation that later changes go by: bucket, zone."""
    created_at: float


async def register(db: Database, tag: str, now: float, facts: dict[str, Any]) -> None:
    """Note that the cluster is there; the facts are added to those known. Repeatable."""
    async with db.write() as conn:
        row = (await conn.execute(select(cluster).where(cluster.c.tag == tag))).mappings().first()
        known = dict(row["facts"]) if row and row["deleted_at"] is None else {}
        values = {
            "eks_name": names.eks_cluster(tag),
            "hyperpod_name": names.hyperpod_cluster(tag),
            "facts": known | facts,
            "created_at": row["created_at"] if row and row["deleted_at"] is None else now,
            "deleted_at": None,
        }
        if row is None:
            await conn.execute(insert(cluster).values(tag=tag, **values))
        else:
            await conn.execute(update(cluster).where(cluster.c.tag == tag).values(**values))
        await _changed(conn, tag, now)


async def forget(db: Database, tag: str, now: float) -> bool:
    """Note that the cluster is gone, and whoever had selected it has none; False when that was known."""
    async with db.write() as conn:
        standing = (cluster.c.tag == tag) & cluster.c.deleted_at.is_(None)
        result = await conn.execute(update(cluster).where(standing).values(deleted_at=now))
        await conn.execute(delete(selection).where(selection.c.cluster == tag))
        await _changed(conn, tag, now)
        return bool(result.rowcount)


async def entries(db: Database) -> dict[str, Entry]:
    """Every cluster on record by its tag."""
    async with db.read() as conn:
        rows = (await conn.execute(select(cluster).where(cluster.c.deleted_at.is_(None)))).mappings().all()
    return {r["tag"]: _entry(r) for r in rows}


async def entry(db: Database, tag: str) -> Entry | None:
    """One cluster on record."""
    return (await entries(db)).get(tag)


async def selected(db: Database, principal: str) -> str | None:
    """What this caller has selected."""
    async with db.read() as conn:
        found = await conn.execute(select(selection.c.cluster).where(selection.c.principal == principal))
        return found.scalar()


async def choose(db: Database, principal: str, tag: str, now: float) -> bool:
    """Select a cluster for this caller; False when it was selected already."""
    async with db.write() as conn:
        found = await conn.execute(select(selection.c.cluster).where(selection.c.principal == principal))
        if found.scalar() == tag:
            return False
        await conn.execute(delete(selection).where(selection.c.principal == principal))
        await conn.execute(insert(selection).values(principal=principal, cluster=tag))
        await _event(conn, "selection", principal, "selection.changed", now)
        return True


async def _changed(conn: AsyncConnection, tag: str, now: float) -> None:
    await _event(conn, "cluster", tag, "cluster.changed", now)


async def _event(conn: AsyncConnection, topic: str, subject: str, kind: str, now: float) -> None:
    """The engine's next event wakes those who follow."""
    await conn.execute(insert(event).values(at=now, topic=topic, subject=subject, type=kind, data={}))


def _entry(row: Any) -> Entry:
    return Entry(row["tag"], row["eks_name"], row["hyperpod_name"] or "", dict(row["facts"]), row["created_at"])
