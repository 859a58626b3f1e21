"""Principals and their secrets: bearer tokens, one-time login codes, browser sessions. Kept as SHA-256 hashes only.

All times here are wall time.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from instantstart.core.access import PrincipalKind, Role
from instantstart.core.ids import new_id
from instantstart.core.problem import define
from instantstart.db.database import Database
from instantstart.db.tables import principal, token

Use = Literal["bearer", "login", "session"]
ADMIN = "admin"
LOGIN_CODE_SECONDS = 600
SESSION_SECONDS = 24 * 3600
_REMEMBER_SECONDS = 5.0
_FIXED_ID = "tok-admin"
TOKEN_NOT_FOUND = define("token_not_found", 404, "There is no such token", "List the tokens to find its id.")


@dataclass(frozen=True)
class Account:
    """An authenticated principal, and the row of the secret that proved it."""

    principal: str
    name: str
    kind: PrincipalKind
    role: Role
    token_id: str
    expires_wall: float | None


@dataclass(frozen=True)
class Secret:
    """A freshly made secret: shown once, never kept."""

    id: str
    text: str
    expires_wall: float | None


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


class Accounts:
    """Makes, checks and revokes secrets."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._seen: dict[tuple[str, Use], tuple[float, Account]] = {}

    async def ensure_admin(self, bearer: str | None) -> None:
        """Make the admin principal if absent; with `bearer`, let exactly that fixed token be the admin's."""
        async with self._db.write() as conn:
            known = (await conn.execute(select(principal.c.id).where(principal.c.id == ADMIN))).first()
            if known is None:
                await conn.execute(insert(principal).values(id=ADMIN, name="admin", kind="person", role="admin"))
            if bearer:
                await conn.execute(delete(token).where((token.c.id == _FIXED_ID) | (token.c.hash == _hash(bearer))))
                await _keep(conn, _FIXED_ID, ADMIN, "bearer", bearer, None)
        self._seen.clear()

    async def make_secret(self, owner: str, use: Use, seconds: float | None) -> Secret:
        """A new secret of a principal, valid for `seconds` (None: until revoked)."""
        expires = None if seconds is None else time.time() + seconds
        secret = Secret(new_id("tok-"), _PREFIX[use] + secrets.token_urlsafe(32), expires)
        async with self._db.write() as conn:
            await _keep(conn, secret.id, owner, use, secret.text, expires)
        return secret

    async def make_principal(self, name: str, kind: PrincipalKind, role: Role) -> str:
        """A new principal; its id."""
        id_ = new_id("prn-")
        async with self._db.write() as conn:
            await conn.execute(insert(principal).values(id=id_, name=name, kind=kind, role=role))
        return id_

    async def known(self, text: str, use: Use) -> Account | None:
        """The account behind a secret that is neither expired nor revoked; None otherwise."""
        now, key = time.time(), (_hash(text), use)
        kept = self._seen.get(key)
        if kept and kept[0] > now and (kept[1].expires_wall is None or kept[1].expires_wall > now):
            return kept[1]
        account = await self._look_up(key[0], use, now)
        self._seen.pop(key, None)
        if account is not None:
            if len(self._seen) > 10_000:
                self._seen.clear()
            self._seen[key] = (now + _REMEMBER_SECONDS, account)
        return account

    async def _look_up(self, hashed: str, use: Use, now: float) -> Account | None:
        query = (
            select(principal, token.c.id.label("token_id"), token.c.expires_wall)
            .join(principal, principal.c.id == token.c.principal)
            .where(token.c.hash == hashed, token.c.use == use, token.c.revoked_wall.is_(None))
        )
        async with self._db.read() as conn:
            row = (await conn.execute(query)).mappings().first()
        if row is None or (row["expires_wall"] is not None and row["expires_wall"] <= now):
            return None
        return Account(row["id"], row["name"], row["kind"], row["role"], row["token_id"], row["expires_wall"])

    async def redeem(self, code: str) -> Account | None:
        """Use up a login code; None when it is unknown, used or expired."""
        account = await self._look_up(_hash(code), "login", time.time())
        if account is None:
            return None
        async with self._db.write() as conn:
            used = update(token).where(token.c.id == account.token_id, token.c.revoked_wall.is_(None))
            done = await conn.execute(used.values(revoked_wall=time.time()))
        return account if done.rowcount == 1 else None

    async def revoke(self, token_id: str) -> None:
        """Make a secret useless at once. Raises the 404 problem for an unknown id."""
        async with self._db.write() as conn:
            wanted = update(token).where(token.c.id == token_id, token.c.revoked_wall.is_(None))
            done = await conn.execute(wanted.values(revoked_wall=time.time()))
        self._seen.clear()
        if done.rowcount == 0:
            raise TOKEN_NOT_FOUND(f"No valid token has the id {token_id}.")

    async def bearer_tokens(self) -> list[dict[str, Any]]:
        """Every bearer token that is not revoked, oldest first, with its principal; never its text."""
        query = (
            select(token, principal.c.name, principal.c.kind, principal.c.role)
            .join(principal, principal.c.id == token.c.principal)
            .where(token.c.use == "bearer", token.c.revoked_wall.is_(None))
            .order_by(token.c.created_wall)
        )
        async with self._db.read() as conn:
            return [dict(row) for row in (await conn.execute(query)).mappings().all()]


_PREFIX: dict[Use, str] = {"bearer": "ist_", "login": "", "session": "iss_"}


async def _keep(conn: AsyncConnection, id_: str, owner: str, use: Use, text: str, expires: float | None) -> None:
    await conn.execute(
        insert(token).values(
            id=id_, principal=owner, use=use, hash=_hash(text), created_wall=time.time(), expires_wall=expires
        )
    )
