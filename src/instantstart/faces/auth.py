"""The gate before every request: Host, Origin, who is asking, size and type of the body. It stamps answers with X-Now.

Cookies are for the browser, bearer tokens for everything else; `/mcp` takes bearer only.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from instantstart.core.access import Caller, Face
from instantstart.core.problem import (
    FORBIDDEN_HOST,
    FORBIDDEN_ORIGIN,
    TOO_LARGE,
    UNAUTHENTICATED,
    UNSUPPORTED_MEDIA_TYPE,
    ProblemError,
)
from instantstart.faces.accounts import Account, Accounts
from instantstart.faces.problems import problem_response

BODY_LIMIT = 1_000_000
_DRAIN_LIMIT = 16 * BODY_LIMIT
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
API, MCP = "/api/v1", "/mcp"
ANONYMOUS = frozenset({("GET", f"{API}/openapi.json"), ("HEAD", f"{API}/openapi.json"), ("POST", f"{API}/session")})
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
FACE_KEY = "instantstart.face"
"""Scope key by which the MCP face marks the calls it makes in process; no header can set it."""


def cookie_name(port: int) -> str:
    """Name of the session cookie: two services on one machine do not share it."""
    return f"instantstart_session_{port}"


def host_name(netloc: str) -> str:
    """The name in a Host header or an Origin's authority, without the port."""
    if netloc.startswith("["):
        return netloc[1:].partition("]")[0].lower()
    return netloc.partition(":")[0].lower()


def check_host(headers: Headers, allowed: frozenset[str]) -> None:
    """Raise the 403 problem unless the Host header has an allowed name, whatever the port."""
    host = headers.get("host", "")
    if host_name(host) not in allowed:
        raise FORBIDDEN_HOST(f"The Host header {host[:100]!r} is not one of this service's names.")


def check_origin(headers: Headers, *, required: bool) -> None:
    """Raise the 403 problem when the Origin is not this very host, or is absent though `required`."""
    origin = headers.get("origin")
    if origin is None:
        if required:
            raise FORBIDDEN_ORIGIN("A browser's request must carry its Origin.")
        return
    parts = urlsplit(origin)
    if parts.scheme not in ("http", "https") or parts.netloc.lower() != headers.get("host", "").lower():
        raise FORBIDDEN_ORIGIN(f"The Origin {origin[:100]!r} is not this service.")


class Gate:
    """ASGI middleware. Puts the Caller into `scope["state"]["caller"]`, or answers a problem."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        accounts: Callable[[], Accounts],
        now: Callable[[], datetime],
        port: int,
        allowed_hosts: frozenset[str],
    ) -> None:
        self.app = app
        self._accounts, self._now = accounts, now
        self._cookie = cookie_name(port)
        self._hosts = LOOPBACK | allowed_hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer the problem that stops it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        try:
            check_host(headers, self._hosts)
            if scope["path"].startswith((f"{API}/", f"{MCP}")):
                await self._admit(scope, headers)
                receive = await _limited(scope, headers, receive)
        except ProblemError as error:
            await _refuse(error, scope, receive, send)
            return
        await self.app(scope, receive, self._stamped(send) if scope["type"] == "http" else send)

    async def _admit(self, scope: Scope, headers: Headers) -> None:
        """Find out who is asking; raises 401 and 403 problems."""
        check_origin(headers, required=False)
        if scope["type"] == "http" and (scope["method"], scope["path"]) in ANONYMOUS:
            return
        account, face = await self._who(scope, headers)
        if face == "web":
            changing = scope["type"] == "websocket" or scope["method"] not in _SAFE
            check_origin(headers, required=changing)
            if scope["type"] == "http" and changing and headers.get("x-instantstart") != "1":
                raise FORBIDDEN_ORIGIN("A browser's change must carry the header X-InstantStart: 1.")
        face = scope.get(FACE_KEY, face)
        state = scope.setdefault("state", {})
        state["caller"] = Caller(account.principal, account.name, account.kind, account.role, face)
        state["recheck"] = lambda: self._who(scope, headers)
        state["token_id"] = account.token_id

    async def _who(self, scope: Scope, headers: Headers) -> tuple[Account, Face]:
        scheme, _, credentials = headers.get("authorization", "").partition(" ")
        if scheme:
            account = None
            if scheme.lower() == "bearer" and credentials.strip():
                account = await self._accounts().known(credentials.strip(), "bearer")
            if account is None:
                raise UNAUTHENTICATED("The bearer token is wrong, expired or revoked.")
            return account, "rest"
        if scope["path"].startswith(MCP):
            raise UNAUTHENTICATED("MCP needs a bearer token.")
        session = _cookie(headers, self._cookie)
        account = await self._accounts().known(session, "session") if session else None
        if account is None:
            raise UNAUTHENTICATED("This needs a login or a bearer token." if not session else "The session has ended.")
        return account, "web"

    def _stamped(self, send: Send) -> Send:
        async def stamp(message: Message) -> None:
            if message["type"] == "http.response.start":
                message.setdefault("headers", [])
                now = self._now().isoformat(timespec="milliseconds").replace("+00:00", "Z")
                message["headers"] = [*message["headers"], (b"x-now", now.encode())]
            await send(message)

        return stamp


def _cookie(headers: Headers, name: str) -> str | None:
    try:
        jar = SimpleCookie(headers.get("cookie", ""))
    except CookieError:
        return None
    return jar[name].value if name in jar else None


async def _limited(scope: Scope, headers: Headers, receive: Receive) -> Receive:
    """A `receive` that gives the whole body, read here. Raises the 413 and 415 problems."""
    if scope["type"] != "http" or scope["method"] in _SAFE:
        return receive
    body = await _read(receive)
    if body is None:
        raise TOO_LARGE(f"The body is larger than {BODY_LIMIT:,} bytes.")
    media = headers.get("content-type", "").partition(";")[0].strip().lower()
    if body and media != "application/json" and not (media.startswith("application/") and media.endswith("+json")):
        raise UNSUPPORTED_MEDIA_TYPE(f"The body is {media or 'of no stated type'}; it must be application/json.")
    given: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return given.pop() if given else await receive()

    return replay


async def _read(receive: Receive) -> bytes | None:
    """The body; None when it is over the limit. What is too much is read on a while, so that the answer arrives."""
    parts, size = [], 0
    while size <= _DRAIN_LIMIT:
        message = await receive()
        if message["type"] != "http.request":
            break
        chunk = message.get("body", b"")
        size += len(chunk)
        if size <= BODY_LIMIT:
            parts.append(chunk)
        if not message.get("more_body", False):
            break
    return b"".join(parts) if size <= BODY_LIMIT else None


async def _refuse(error: ProblemError, scope: Scope, receive: Receive, send: Send) -> None:
    response = problem_response(error.problem)
    if scope["type"] == "http":
        await response(scope, receive, send)
    elif "websocket.http.response" in scope.get("extensions", {}):
        start: dict[str, Any] = {"status": response.status_code, "headers": response.raw_headers}
        await send({"type": "websocket.http.response.start", **start})
        await send({"type": "websocket.http.response.body", "body": bytes(response.body)})
    else:
        await send({"type": "websocket.close", "code": 1008, "reason": error.code})
