"""The little of CBOR that an error of a service with the RPC-v2 protocol needs: maps and lists of text."""

from __future__ import annotations

from typing import Any


def _head(major: int, length: int) -> bytes:
    if length < 24:
        return bytes([major << 5 | length])
    if length < 256:
        return bytes([major << 5 | 24, length])
    return bytes([major << 5 | 25]) + length.to_bytes(2, "big")


def encode(value: Any) -> bytes:
    """Text, lists and maps up to 65,535 long."""
    if isinstance(value, str):
        data = value.encode()
        return _head(3, len(data)) + data
    if isinstance(value, list):
        return _head(4, len(value)) + b"".join(encode(v) for v in value)
    if isinstance(value, dict):
        return _head(5, len(value)) + b"".join(encode(k) + encode(v) for k, v in value.items())
    raise TypeError(f"no CBOR for {type(value).__name__}")
