"""The charts over HTTP: packages with their index, and the repository's archive. The fault `chart_fetch` is taken here."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import yaml

from instantstart_sandbox.charts.table import COMMIT, HYPERPOD, REPOSITORY, packages, repository_archive
from instantstart_sandbox.world import World

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Asgi = Callable[[Scope, Receive, Send], Awaitable[None]]
_ROOT = "/charts/"


def _index() -> bytes:
    entries = {
        p.name: [{"apiVersion": "v2", "name": p.name, "version": p.version, "urls": [p.file], "digest": p.digest}]
        for p in packages().values()
    }
    return yaml.safe_dump({"apiVersion": "v1", "entries": entries}).encode()


def answer(world: World, path: str) -> tuple[int, str, bytes]:
    """(status, content type, body) of a path below the charts' root, which begins with a slash."""
    name = path.strip("/")
    if name == "index.yaml":
        return 200, "application/yaml", _index()
    if name == f"git/{REPOSITORY}/{COMMIT}.tar.gz":
        return _content(world, HYPERPOD, "", repository_archive())
    package = packages().get(name)
    if package is None:
        return 404, "text/plain", b"There is no such chart.\n"
    return _content(world, package.name, package.version, package.content)


def _content(world: World, name: str, version: str, content: bytes) -> tuple[int, str, bytes]:
    with world.store.transaction():
        fault = world.faults.take("chart_fetch", "", "", f"{name} {version}")
    if fault is not None:
        return 503, "text/plain", b"The charts' host does not answer.\n"
    return 200, "application/gzip", content


def charts_app(world: World) -> Asgi:
    """An ASGI app for everything below `/_sandbox/charts/`; mounted with or without that prefix in its path."""

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        if scope["method"] not in ("GET", "HEAD"):
            status, kind, body = 405, "text/plain", b"Charts are only read.\n"
        else:
            at = path.find(_ROOT)
            status, kind, body = answer(world, path[at + len(_ROOT) - 1 :] if at >= 0 else path)
        headers = [(b"content-type", kind.encode()), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})

    return serve
