"""What HyperPod's events say is wrong: which one counts, and where the real cause stands in it. Pure."""

from __future__ import annotations

from typing import Any

Doc = dict[str, Any]
_NOISE = ("lost orchestration-ready status", "if failure persists after retry, contact customer support")


def newest_error(events: list[Doc]) -> Doc | None:
    """The newest error among events that come newest first, without what is known to mean nothing."""
    for event in events:
        text = str(event.get("Description") or "").lower()
        if event.get("EventLevel") == "Error" and not any(noise in text for noise in _NOISE):
            return event
    return None


def cause(details: Doc | None) -> str | None:
    """FailureMessage of DescribeClusterEvent's answer, which has `EventDetails` twice; its metadata is a union."""
    metadata = ((details or {}).get("EventDetails") or {}).get("EventMetadata") or {}
    for member in metadata.values():
        if isinstance(member, dict) and member.get("FailureMessage"):
            return str(member["FailureMessage"])
    return None
