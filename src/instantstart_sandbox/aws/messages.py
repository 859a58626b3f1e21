"""One request and one answer of the AWS wire, as plain data between the front and whatever serves a service."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class WireRequest:
    """A request as it came. Header names are lower-case; `service` is the botocore name, e.g. "service-quotas"."""

    method: str
    path: str
    query_string: str
    headers: dict[str, str]
    body: bytes
    service: str
    region: str
    access_key: str


@dataclass
class WireResponse:
    """An answer to be sent as it is."""

    status: int
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
