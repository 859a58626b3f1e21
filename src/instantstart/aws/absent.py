"""Reads of things that may not exist: None instead of the problem."""

from __future__ import annotations

from typing import Any

from instantstart.aws.clients import AwsClients
from instantstart.aws.errors import AwsProblem


async def maybe(aws: AwsClients, service: str, operation: str, **params: Any) -> dict[str, Any] | None:
    """The answer, or None when the service does not know the object. Raises AwsProblem for anything else."""
    try:
        return await aws.call(service, operation, **params)
    except AwsProblem as error:
        if error.not_found:
            return None
        raise


async def gone(
    aws: AwsClients, service: str, operation: str, *, timeout: float = 10.0, **params: Any
) -> dict[str, Any]:
    """Send a removing call; {} when the object is gone already. Raises AwsProblem for anything else."""
    try:
        return await aws.call(service, operation, timeout=timeout, **params)
    except AwsProblem as error:
        if error.not_found:
            return {}
        raise


def tags_of(listed: list[dict[str, Any]] | None) -> dict[str, str]:
    """`[{Key, Value}]` as a dict."""
    return {t["Key"]: t.get("Value", "") for t in listed or []}


def tag_list(tags: dict[str, str]) -> list[dict[str, str]]:
    """A dict as `[{Key, Value}]`."""
    return [{"Key": k, "Value": v} for k, v in tags.items()]
