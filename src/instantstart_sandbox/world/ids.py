"""Identifiers and dice of the world: drawn from one seeded, persisted sequence, so a replay gives the same world."""

from __future__ import annotations

import hashlib
import uuid

from instantstart_sandbox.world.store import Store

_ALPHANUMERIC = "abcdefghijklmnopqrstuvwxyz0123456789"


class Ids:
    """A counter and a seed; every draw is a hash of both."""

    def __init__(self, store: Store, seed: str) -> None:
        self._store, self._seed = store, store.meta("seed", seed)
        store.set_meta("seed", self._seed)
        self._count: int = store.meta("ids", 0)
        store.on_rollback.append(self._reload)

    def _reload(self) -> None:
        self._count = self._store.meta("ids", 0)

    def _draw(self) -> bytes:
        self._count += 1
        self._store.set_meta("ids", self._count)
        return hashlib.sha256(f"{self._seed}:{self._count}".encode()).digest()

    def hex(self, prefix: str, length: int = 17) -> str:
        """`prefix` plus `length` hexadecimal digits, e.g. an instance id."""
        return prefix + self._draw().hex()[:length]

    def text(self, length: int) -> str:
        """Lower-case letters and digits, as in SageMaker's cluster ids."""
        return "".join(_ALPHANUMERIC[b % 36] for b in self._draw()[:length])

    def uuid(self) -> str:
        """A version-4-shaped UUID."""
        return str(uuid.UUID(bytes=self._draw()[:16], version=4))

    def random(self) -> float:
        """A number in [0, 1)."""
        return int.from_bytes(self._draw()[:7], "big") / 2**56
