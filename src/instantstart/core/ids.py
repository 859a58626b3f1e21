"""Identifiers that sort by time of making."""

from __future__ import annotations

import secrets
import time

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


def new_id(prefix: str) -> str:
    """`prefix` and 20 characters: 10 of wall time in milliseconds, 10 random; sorts by time."""
    millis, out = int(time.time() * 1000), ""
    for _ in range(10):
        millis, rest = divmod(millis, 32)
        out = _ALPHABET[rest] + out
    return f"{prefix}{out}{''.join(secrets.choice(_ALPHABET) for _ in range(10))}"


def client_token() -> str:
    """A client request token: 40 characters, accepted by every AWS API that takes one (1 to 64, `[A-Za-z0-9-]`)."""
    return f"is-{secrets.token_hex(18)}x"
