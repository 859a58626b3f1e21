"""The ASGI face of the API servers: one application for every cluster, under `/k8s/<cluster>`.

It reads bodies, streams watches and logs, and plays the faults of the wire; everything else is `handler.py`.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import unquote

from instantstart_sandbox.kube import paths, watching
from instantstart_sandbox.kube.abort import ABORT
from instantstart_sandbox.kube.handler import Handler
from instantstart_sandbox.kube.objects import KubeApi
from instantstart_sandbox.kube.signin import Principal, SignIn
from instantstart_sandbox.kube.status import ApiError, too_many
from instantstart_sandbox.kube.wire import Request, Response, failure
from instantstart_sandbox.world import World

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
_LIMIT = 3 * 1024 * 1024


class Dropped(Exception):  # noqa: N818 - not an error of ours
    """The connection is to be closed without an answer."""


class ApiServer:
    """ASGI application. `principal` maps an access key id to an ARN; `on_drop` closes the client's connection."""

    def __init__(self, world: World, api: KubeApi | None = None, principal: Principal | None = None) -> None:
        self.world = world
        self.api = api or KubeApi(world)
        self.signin = SignIn(world, self.api.engine, principal)
        self.handler = Handler(self.api, self.signin)
        world.timers.on("kube.late-request", self._late)
        world.store.subscribe("fault", self._fault_changed)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection event."""
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
            return
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1003})
            return
        cluster, request = await self._read(scope, receive)
        try:
            response = await self._respond(cluster, request)
        except Dropped:
            await _abort(scope)
            return
        await self._send(response, request, receive, send)

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            await send({"type": message["type"] + ".complete"})
            if message["type"] == "lifespan.shutdown":
                return

    async def _read(self, scope: Scope, receive: Receive) -> tuple[str, Request]:
        raw = scope.get("raw_path") or scope["path"].encode()
        parts = raw.decode("latin-1").partition("?")[0].split("/", 3)
        cluster = unquote(parts[2]) if len(parts) > 2 and parts[1] == "k8s" else ""
        path = "/" + unquote(parts[3]) if len(parts) > 3 else "/"
        headers: dict[str, str] = {}
        for name, value in scope["headers"]:
            key, content = name.decode("latin-1").lower(), value.decode("latin-1")
            headers[key] = headers[key] + "\0" + content if key == "impersonate-group" and key in headers else content
        body = b""
        more = True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False) and len(body) <= _LIMIT
        query = scope.get("query_string", b"").decode("latin-1")
        request = Request(scope["method"], path, query, headers, body)
        request.audit_id = headers.get("audit-id") or self.world.ids.uuid()
        return cluster, request

    async def _respond(self, cluster: str, request: Request) -> Response:
        if len(request.body) > _LIMIT:
            return failure(ApiError(413, "RequestEntityTooLarge", f"Request entity too large: limit is {_LIMIT}"))
        target = paths.parse(request.path)
        operation = f"{paths.verb(request, target)} {target.resource}" if target else f"get {request.path}"
        words = f"{cluster} {request.path}"
        await self._faults_before(cluster, request, operation, words)
        early = self._refused(operation, words)
        if early is not None:
            return early
        response = self._handle(cluster, request)
        if self.world.faults.take("lost_answer", "kubernetes", operation, words):
            raise Dropped
        return response

    def _handle(self, cluster: str, request: Request) -> Response:
        return self.handler.serve(cluster, request)

    async def _faults_before(self, cluster: str, request: Request, operation: str, words: str) -> None:
        faults = self.world.faults
        if faults.take("api_server_down", "kubernetes", "", cluster) or faults.take("api_server_down", "", "", cluster):
            raise Dropped
        late = faults.take("late_request", "kubernetes", operation, words)
        if late:
            seconds = float(late.get("delay_seconds") or 5)
            kept = {
                "cluster": cluster, "method": request.method, "path": request.path, "query": request.query_string,
                "headers": request.headers, "body": base64.b64encode(request.body).decode(),
                "audit_id": request.audit_id,
            }  # fmt: skip
            self.world.timers.after(seconds, "kube.late-request", request.audit_id, **kept)
            raise Dropped
        slow = faults.take("slow", "kubernetes", operation, words)
        if slow:
            await self._wait(float(slow.get("delay_seconds") or 1))

    async def _wait(self, seconds: float) -> None:
        clock = self.world.clock
        due = clock.time() + seconds
        while clock.time() < due:
            await clock.wait_change(clock.revision, clock.wall_delay(due) or 5.0)

    def _refused(self, operation: str, words: str) -> Response | None:
        faults = self.world.faults
        if faults.take("throttling", "kubernetes", operation, words):
            return failure(too_many("Too many requests, please try again later.", 1))
        if faults.take("server_error", "kubernetes", operation, words):
            return failure(ApiError(500, "InternalError", "Internal error occurred: etcdserver: request timed out"))
        return None

    def _late(self, _key: str, kept: dict[str, Any]) -> None:
        request = Request(kept["method"], kept["path"], kept["query"], kept["headers"], base64.b64decode(kept["body"]))
        request.audit_id = kept["audit_id"]
        self._handle(kept["cluster"], request)

    def _fault_changed(self, _key: str, old: Any, new: Any) -> None:
        """A new `watch_gone` breaks the watches that are open; `api_server_down` ends them too."""
        if old is not None or new is None or new["kind"] not in ("watch_gone", "api_server_down"):
            return
        match = str(new.get("match") or "")
        for name, state in self.api.engine.store.clusters.items():
            if not match or match in name:
                watching.break_all(state)

    async def _send(self, response: Response, request: Request, receive: Receive, send: Send) -> None:
        headers = [(b"audit-id", request.audit_id.encode("latin-1")), (b"cache-control", b"no-cache, private")]
        if response.content_type:
            headers.append((b"content-type", response.content_type.encode()))
        headers.extend((k.lower().encode(), v.encode("latin-1", "replace")) for k, v in response.headers.items())
        if response.stream is None:
            headers.append((b"content-length", str(len(response.body)).encode()))
            await send({"type": "http.response.start", "status": response.status, "headers": headers})
            body = b"" if request.method == "HEAD" else response.body
            await send({"type": "http.response.body", "body": body})
            return
        await send({"type": "http.response.start", "status": response.status, "headers": headers})
        await send({"type": "http.response.body", "body": b"", "more_body": True})
        await self._stream(response, receive, send)

    async def _stream(self, response: Response, receive: Receive, send: Send) -> None:
        assert response.stream is not None
        lines = response.stream()

        async def pump() -> None:
            async for line in lines:
                await send({"type": "http.response.body", "body": line, "more_body": True})
            await send({"type": "http.response.body", "body": b""})

        async def gone() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass

        tasks = {asyncio.ensure_future(pump()), asyncio.ensure_future(gone())}
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await lines.aclose()  # type: ignore[attr-defined]


async def _abort(scope: Scope) -> None:
    """Close the connection without an answer, where the server lets us."""
    close = (scope.get("extensions") or {}).get(ABORT)
    if close is None:
        raise ConnectionAbortedError("dropped on purpose")
    close()
    await asyncio.sleep(0)
