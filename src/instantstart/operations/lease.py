"""Who may send: a lease per operation with a fencing number that every write of the owner checks.

On PostgreSQL a taker waits for expiry plus the longest call time-out. On SQLite one process owns the database by a
file lock, so a lease that is found belongs to a dead process and is taken at once.
"""

from __future__ import annotations

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from instantstart.db.database import Database
from instantstart.db.tables import lease
from instantstart.operations import store

LEASE_SECONDS = 15.0
LONGEST_CALL_SECONDS = 600.0
_MARGIN = 1.0


class Lease:
    """The lease of one operation, held by `owner`. All times here are wall time."""

    def __init__(self, db: Database, operation_id: str, owner: str) -> None:
        self._db, self._operation_id, self._owner = db, operation_id, owner
        self.fence = 0
        self._expires = 0.0

    async def take(self) -> bool:
        """Take the lease if it is free, expired or (on SQLite) left by a dead process; raises the fence."""
        async with self._db.write() as conn:
            now = await self._db.wall_time(conn)
            query = select(lease).where(lease.c.operation_id == self._operation_id)
            row = (await conn.execute(query if self._db.is_sqlite else query.with_for_update())).mappings().one()
            held = row["owner"] not in (None, self._owner) and row["expires_wall"] + LONGEST_CALL_SECONDS > now
            if held and not self._db.is_sqlite:
                return False
            self.fence, self._expires = row["fence"] + 1, now + LEASE_SECONDS
            await self._save(conn)
        return True

    async def ensure(self, seconds: float) -> None:
        """Have at least `seconds` left, renewing when there is less. Raises `lease_lost` when it has passed on."""
        async with self._db.write() as conn:
            now = await self._db.wall_time(conn)
            await store.check_fence(conn, self._operation_id, self.fence)
            if self._expires - now < seconds + _MARGIN:
                self._expires = now + max(LEASE_SECONDS, seconds + 2 * _MARGIN)
                await self._save(conn)

    async def release(self) -> None:
        """Give the lease back; does nothing when it has passed on."""
        where = (lease.c.operation_id == self._operation_id) & (lease.c.fence == self.fence)
        async with self._db.write() as conn:
            await conn.execute(update(lease).where(where).values(owner=None, expires_wall=0.0))

    async def _save(self, conn: AsyncConnection) -> None:
        values = {"owner": self._owner, "fence": self.fence, "expires_wall": self._expires}
        await conn.execute(update(lease).where(lease.c.operation_id == self._operation_id).values(**values))
