"""Pages of a list: `NextToken` is the position, bound to what was asked."""

from __future__ import annotations

import base64
import binascii
import hashlib
from typing import Any

import orjson

from instantstart_sandbox.aws.errors import AwsError


def page(
    items: list[Any], limit: int, token: str | None, question: Any = None, *, code: str = "ValidationException"
) -> tuple[list[Any], str | None]:
    """(items of the page, token of the next one or None). A token of another question is refused with `code`."""
    mark = hashlib.sha256(orjson.dumps(question, default=str)).hexdigest()[:12]
    start = 0
    if token:
        try:
            position, held = base64.urlsafe_b64decode(token.encode()).decode().split("/")
            start = int(position)
        except (binascii.Error, ValueError) as error:
            raise AwsError(code, "Invalid NextToken", 400) from error
        if held != mark:
            raise AwsError(code, "The NextToken belongs to another request.", 400)
    end = start + limit
    following = base64.urlsafe_b64encode(f"{end}/{mark}".encode()).decode() if end < len(items) else None
    return items[start:end], following
