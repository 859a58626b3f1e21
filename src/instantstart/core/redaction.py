"""Keeps secrets out of logs, events, views and the journal."""

from __future__ import annotations

import re
from typing import Any

_SECRET_KEY = re.compile(r"(secret|password|passwd|token$|api_?key|authorization|credential|private_?key)", re.I)
_NOT_SECRET = re.compile(r"(client_?request_?token|client_?token|next_?token|idempotency)", re.I)
_SECRET_TEXT = re.compile(
    r"(hf_[A-Za-z0-9]{8,}|AKIA[A-Z0-9]{12,}|Bearer\s+\S+|k8s-aws-v1\.\S+|X-Amz-Signature=[0-9a-f]+)"
)
MASK = "***"


def redact(value: Any) -> Any:
    """A copy of JSON-like data without secrets: masked by key name, and by what a text looks like."""
    if isinstance(value, dict):
        return {
            k: MASK if v and _SECRET_KEY.search(str(k)) and not _NOT_SECRET.search(str(k)) else redact(v)
            for k, v in value.items()
        }
    if isinstance(value, list | tuple):
        return [redact(v) for v in value]
    return _SECRET_TEXT.sub(MASK, value) if isinstance(value, str) else value
