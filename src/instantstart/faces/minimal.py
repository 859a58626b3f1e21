"""The short form of an answer, for who pays by the word: `Prefer: return=minimal` (RFC 7240). MCP always asks for it.

What is absent is null, empty, or has ended well: nothing is renamed, and nothing is said that the long form does not.
"""

from __future__ import annotations

from typing import Any

import orjson
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

PREFERENCE = "return=minimal"
_STAGE = ("name", "step", "title", "state", "message", "attention", "problem", "retry_needs_consent")
_PLANNED = ("name", "step", "title", "typical_seconds")
_QUIET = frozenset({"pending", "succeeded", "unchanged"})
_LEFT_OUT = frozenset({"history", "intent", "evidence"})


def minimal(name: str, body: Any) -> Any:
    """The short form of the answer of the route `name`."""
    if isinstance(body, dict):
        if "operation" in body and name == "operation_wait":
            body = {**body, "operation": _operation(body["operation"], quiet=True)}
        elif "stages" in body and "terminal" in body and name != "operation_get_status":
            body = _operation(body, quiet=False)
        elif "stages" in body and body.get("dry_run"):
            body = {**body, "stages": [_only(s, _PLANNED) for s in body["stages"]]}
    return _filled(body)


def _operation(view: dict[str, Any], *, quiet: bool) -> dict[str, Any]:
    """An operation: while it runs, a quiet answer has only the stages that have something to say."""
    stages = [_only(s, _STAGE) for s in view["stages"]]
    if quiet and not view["terminal"]:
        stages = [s for s in stages if s["state"] not in _QUIET or s.get("attention")]
    return {**view, "stages": stages}


def _only(stage: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {n: stage[n] for n in names if n in stage}


def _filled(value: Any) -> Any:
    """JSON-like data without nulls, empty texts and empty collections inside objects."""
    if isinstance(value, dict):
        kept = {k: _filled(v) for k, v in value.items() if k not in _LEFT_OUT}
        return {k: v for k, v in kept.items() if v is not None and v not in ("", [], {})}
    return [_filled(v) for v in value] if isinstance(value, list) else value


class Minimal:
    """ASGI middleware: answers with the short form when it is preferred."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on; shorten a JSON answer that was a success."""
        if scope["type"] != "http" or PREFERENCE not in Headers(scope=scope).get("prefer", ""):
            await self.app(scope, receive, send)
            return
        await self.app(scope, receive, _Shortened(scope, send))


class _Shortened:
    """A `send` that keeps a JSON answer back until it is whole."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self._scope, self._send = scope, send
        self._start: Message | None = None
        self._body = bytearray()

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start" and _fits(message):
            self._start = message
        elif message["type"] == "http.response.body" and self._start is not None:
            self._body += message.get("body", b"")
            if not message.get("more_body", False):
                await self._finish(self._start)
        else:
            await self._send(message)

    async def _finish(self, start: Message) -> None:
        name = getattr(self._scope.get("route"), "name", "")
        body = orjson.dumps(minimal(name, orjson.loads(self._body))) if self._body else b""
        headers = MutableHeaders(scope=start)
        headers["content-length"] = str(len(body))
        headers["preference-applied"] = PREFERENCE
        await self._send(start)
        await self._send({"type": "http.response.body", "body": body})


def _fits(message: Message) -> bool:
    kind = Headers(raw=message.get("headers", [])).get("content-type", "")
    return 200 <= message["status"] < 300 and kind.startswith("application/json")
