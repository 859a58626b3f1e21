"""A request and an answer of the API server, apart from any web framework."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

import orjson

from instantstart_sandbox.kube.status import ApiError

JSON = "application/json"


@dataclass(frozen=True)
class User:
    """Who asks."""

    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: dict[str, list[str]] = field(default_factory=dict)


@dataclass
class Request:
    """One request; `path` is below the cluster's prefix, header names are lower case."""

    method: str
    path: str
    query_string: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    user: User = field(default_factory=lambda: User("system:anonymous", ("system:unauthenticated",)))
    audit_id: str = ""

    def __post_init__(self) -> None:
        self.query: dict[str, list[str]] = {}
        for name, value in parse_qsl(self.query_string, keep_blank_values=True):
            self.query.setdefault(name, []).append(value)

    def arg(self, name: str) -> str:
        """The first value of a query parameter, '' when absent."""
        return self.query.get(name, [""])[0]

    def flag(self, name: str) -> bool:
        """A boolean query parameter."""
        return name in self.query and self.arg(name) not in ("0", "false")

    @property
    def accept(self) -> str:
        """The Accept header."""
        return self.headers.get("accept", "*/*")

    @property
    def manager(self) -> str:
        """The field manager: the parameter, else the program's name in User-Agent."""
        return self.arg("fieldManager") or self.headers.get("user-agent", "unknown").partition("/")[0]


@dataclass
class Response:
    """An answer; `stream` replaces `body` for watches and followed logs."""

    status: int = 200
    body: bytes = b""
    content_type: str = JSON
    headers: dict[str, str] = field(default_factory=dict)
    stream: Callable[[], AsyncIterator[bytes]] | None = None
    applied: bool = False
    """Whether something changed, for the request log."""


def answer(value: Any, status: int = 200, **kwargs: Any) -> Response:
    """A JSON answer."""
    return Response(status, orjson.dumps(value) + b"\n", **kwargs)


def failure(error: ApiError) -> Response:
    """The answer of an error."""
    return answer(error.body(), error.code, headers=dict(error.headers))


def text(value: str, status: int = 200) -> Response:
    """A plain text answer."""
    return Response(status, value.encode(), "text/plain; charset=utf-8")
