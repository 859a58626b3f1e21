"""The ASGI face on the AWS port: AWS calls, and the control interface under `/_sandbox/`.

Loopback is no protection against a web page in the same browser, so Host and Origin are checked for both.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

import orjson

from instantstart_sandbox.aws.access import scope_of
from instantstart_sandbox.aws.front import Front
from instantstart_sandbox.aws.messages import WireRequest, WireResponse
from instantstart_sandbox.control import Control
from instantstart_sandbox.kube.abort import ABORT

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
log = logging.getLogger("sandbox.app")
_LIMITS = {"s3": 256 * 1024 * 1024, "control": 1024 * 1024}
_LIMIT = 4 * 1024 * 1024
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def host_name(host: str) -> str:
    """The name in a Host header, without port and brackets, lower-case."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].lower()


def is_loopback(name: str) -> bool:
    """Whether a host name can only mean this machine."""
    return name in _LOOPBACK or name.endswith(".localhost")


class TooLarge(Exception):  # noqa: N818 - not an error of ours
    """The body is longer than the endpoint takes."""


class AwsApp:
    """ASGI application."""

    def __init__(self, front: Front, control: Control) -> None:
        self.front, self.control = front, control

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection event."""
        if scope["type"] == "lifespan":
            await _lifespan(receive, send)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1003})
        else:
            await self._http(scope, receive, send)

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = {k.decode("latin-1").lower(): v.decode("latin-1") for k, v in scope["headers"]}
        refused = _foreign(headers)
        if refused is not None:
            await _send(send, refused)
            return
        try:
            if scope["path"].startswith("/_sandbox/"):
                await self._control(scope, headers, receive, send)
            else:
                await self._aws(scope, headers, receive, send)
        except TooLarge:
            text = "The request body is larger than this endpoint takes."
            await _send(send, problem(413, "body_too_large", text))

    async def _control(self, scope: Scope, headers: dict[str, str], receive: Receive, send: Send) -> None:
        body = await _body(receive, headers, _LIMITS["control"])
        query = scope.get("query_string", b"").decode("latin-1")
        name = scope["path"].removeprefix("/_sandbox/").rstrip("/")
        status, answer = await self.control.serve(scope["method"], name, query, body)
        kind = "application/problem+json" if status >= 400 else "application/json"
        await _send(send, WireResponse(status, {"content-type": kind}, orjson.dumps(answer, default=str)))

    async def _aws(self, scope: Scope, headers: dict[str, str], receive: Receive, send: Send) -> None:
        query = scope.get("query_string", b"").decode("latin-1")
        signed = scope_of(headers, query, b"")
        body = await _body(receive, headers, _LIMITS.get(signed.service, _LIMIT))
        if not signed.service:
            signed = scope_of(headers, query, body)
        raw = scope.get("raw_path") or scope["path"].encode()
        path = raw.decode("latin-1").partition("?")[0]
        bucket = _virtual_bucket(headers.get("host", ""), signed.service)
        if bucket:
            path = f"/{bucket}{path}"
        request = WireRequest(
            scope["method"], path, query, headers, body, signed.service, signed.region, signed.access_key
        )
        response = await self.front.serve(request)
        if response is None:
            await _abort(scope)
        else:
            await _send(send, response, head=scope["method"] == "HEAD")


def _virtual_bucket(host: str, service: str) -> str:
    """The bucket of a virtual-host form S3 request, e.g. `data.s3.localhost`."""
    name = host_name(host)
    if service != "s3" or not name.endswith(".localhost"):
        return ""
    return name.removesuffix(".localhost").removesuffix(".s3")


def problem(status: int, code: str, detail: str) -> WireResponse:
    """A problem JSON of the endpoint itself."""
    body = orjson.dumps({"type": "about:blank", "status": status, "code": code, "detail": detail})
    return WireResponse(status, {"content-type": "application/problem+json"}, body)


def _foreign(headers: dict[str, str]) -> WireResponse | None:
    host = host_name(headers.get("host", ""))
    if not is_loopback(host):
        return problem(403, "host_not_allowed", f"The sandbox does not answer for the host {host!r}.")
    origin = headers.get("origin")
    if origin is not None and not is_loopback((urlsplit(origin).hostname or "").lower()):
        return problem(403, "origin_not_allowed", f"The sandbox does not answer pages of {origin!r}.")
    return None


async def _body(receive: Receive, headers: dict[str, str], limit: int) -> bytes:
    length = headers.get("content-length", "0")
    if length.isdigit() and int(length) > limit:
        raise TooLarge
    parts: list[bytes] = []
    size, more = 0, True
    while more:
        message = await receive()
        part = message.get("body", b"")
        size += len(part)
        if size > limit:
            raise TooLarge
        parts.append(part)
        more = message.get("more_body", False)
    return b"".join(parts)


async def _send(send: Send, response: WireResponse, *, head: bool = False) -> None:
    headers = {
        k.lower(): v for k, v in response.headers.items() if k.lower() not in ("connection", "transfer-encoding")
    }
    if not head or "content-length" not in headers:
        headers["content-length"] = str(len(response.body))
    if response.status == 204:
        headers.pop("content-length", None)
    pairs = [(k.encode("latin-1"), v.encode("latin-1", "replace")) for k, v in headers.items()]
    await send({"type": "http.response.start", "status": response.status, "headers": pairs})
    await send({"type": "http.response.body", "body": b"" if head else response.body})


async def _lifespan(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        await send({"type": message["type"] + ".complete"})
        if message["type"] == "lifespan.shutdown":
            return


async def _abort(scope: Scope) -> None:
    """Close the connection without an answer, where the server lets us."""
    close = (scope.get("extensions") or {}).get(ABORT)
    if close is None:
        raise ConnectionAbortedError("dropped on purpose")
    close()
    await asyncio.sleep(0)
