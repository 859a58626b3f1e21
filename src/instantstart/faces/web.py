"""Serves the built web UI: a strict CSP, hashed assets cached for ever, every other path answered by the one page."""

from __future__ import annotations

import gzip
import hashlib
import html
import mimetypes
from dataclasses import dataclass
from pathlib import Path

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from instantstart.core.problem import METHOD_NOT_ALLOWED, NOT_FOUND
from instantstart.faces.problems import problem_response

CSP = (
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self' data:; "
    "connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
SECURITY = {
    "Content-Security-Policy": CSP,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}
_OURS = ("/api/", "/mcp", "/healthz")
_COMPRESSIBLE = ("text/", "application/javascript", "application/json", "image/svg+xml")


@dataclass(frozen=True)
class _File:
    """One static file in memory, as it is sent."""

    body: bytes
    packed: bytes | None
    media_type: str
    etag: str


def _load(path: Path) -> _File:
    body = path.read_bytes()
    media = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    packed = gzip.compress(body, 6, mtime=0) if media.startswith(_COMPRESSIBLE) and len(body) > 1000 else None
    return _File(body, packed, media, f'"{hashlib.sha256(body).hexdigest()[:24]}"')


class WebUi:
    """ASGI middleware: answers what is not REST, MCP or health from the folder of the built UI."""

    def __init__(self, app: ASGIApp, static: Path, fault: str | None) -> None:
        self.app = app
        self._static, self._fault = static.resolve(), fault
        self._files: dict[Path, _File] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass on."""
        if scope["type"] != "http" or scope["path"].startswith(_OURS):
            await self.app(scope, receive, send)
            return
        await self._answer(scope)(scope, receive, send)

    def _answer(self, scope: Scope) -> Response:
        path = scope["path"]
        if scope["method"] not in ("GET", "HEAD"):
            return problem_response(METHOD_NOT_ALLOWED(f"{scope['method']} {path}").problem)
        wanted = self._find(path)
        if wanted is None and "." in path.rsplit("/", 1)[-1]:
            return problem_response(NOT_FOUND(f"GET {path}").problem)
        if self._fault is not None:
            return Response(_fault_page(self._fault), 503, {**SECURITY, "Cache-Control": "no-store"}, "text/html")
        wanted = wanted or self._static / "index.html"
        if wanted not in self._files:
            self._files[wanted] = _load(wanted)
        return self._file(self._files[wanted], Headers(scope=scope), immutable=path.startswith("/assets/"))

    def _find(self, path: str) -> Path | None:
        """The file for a path; None when there is none, or when it would leave the folder."""
        if path == "/" or "\0" in path:
            return None
        found = (self._static / path.lstrip("/")).resolve()
        return found if found.is_relative_to(self._static) and found.is_file() else None

    @staticmethod
    def _file(file: _File, headers: Headers, *, immutable: bool) -> Response:
        caching = "public, max-age=31536000, immutable" if immutable else "no-cache"
        out = {**SECURITY, "Cache-Control": caching, "ETag": file.etag, "Vary": "Accept-Encoding"}
        if headers.get("if-none-match") == file.etag:
            return Response(status_code=304, headers=out)
        if file.packed is not None and "gzip" in headers.get("accept-encoding", ""):
            return Response(file.packed, headers={**out, "Content-Encoding": "gzip"}, media_type=file.media_type)
        return Response(file.body, headers=out, media_type=file.media_type)


def _fault_page(fault: str) -> str:
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'><title>InstantStart</title></head>"
        f"<body><h1>The web UI cannot be shown</h1><p>{html.escape(fault)}</p>"
        "<p>REST and MCP work: see <a href='/api/v1/openapi.json'>/api/v1/openapi.json</a>.</p></body></html>"
    )
