"""Times as `kubectl get` shows them: 5s, 3m20s, 4h, 12d."""

from __future__ import annotations

from datetime import datetime


def parse(text: str) -> float:
    """A time of the API as epoch seconds."""
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def duration(seconds: float) -> str:
    """A length of time in the short form of the API server's tables."""
    total = int(seconds)
    if total < -1:
        return "<invalid>"
    if total < 0:
        return "0s"
    if total < 120:
        return f"{total}s"
    minutes = total // 60
    if minutes < 10:
        rest = total % 60
        return f"{minutes}m{rest}s" if rest else f"{minutes}m"
    if minutes < 180:
        return f"{minutes}m"
    hours = total // 3600
    if hours < 8:
        rest = minutes % 60
        return f"{hours}h{rest}m" if rest else f"{hours}h"
    if hours < 48:
        return f"{hours}h"
    days = hours // 24
    if hours < 192:
        rest = hours % 24
        return f"{days}d{rest}h" if rest else f"{days}d"
    if days < 730:
        return f"{days}d"
    years = days // 365
    rest = days % 365
    return f"{years}y{rest}d" if years < 8 and rest else f"{years}y"


def age(text: str | None, now: float) -> str:
    """How long ago, `<unknown>` without a time."""
    if not text:
        return "<unknown>"
    try:
        return duration(now - parse(text))
    except ValueError:
        return "<invalid>"
