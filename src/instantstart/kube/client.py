"""One cluster's API server: objects as dicts, server-side apply, bearer tokens renewed on 401."""

from __future__ import annotations

import builtins
import ssl
from collections.abc import Awaitable, Callable
from typing import Any, Literal

import httpx2
import orjson

from instantstart import __version__
from instantstart.core.names import FIELD_MANAGER
from instantstart.kube import errors
from instantstart.kube.errors import KubeProblem
from instantstart.kube.kinds import Kinds

Doc = dict[str, Any]
Token = Callable[[bool], Awaitable[str]]
"""A bearer token; the argument asks for a new one."""
PatchKind = Literal["merge", "strategic", "json"]
_PATCH_TYPES: dict[PatchKind, str] = {
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "json": "application/json-patch+json",
}
_PAGE = 500
_NOT_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)


class Kube:
    """A client for one API server. Every method raises KubeProblem."""

    def __init__(self, *, server: str, ca: str | None, token: Token, timeout: float = 10.0) -> None:
        self.server = server.rstrip("/")
        self.ca = ca
        self.token = token
        self.broken = False
        """Whether the last request found no server: the address may have changed."""
        limits = httpx2.Limits(max_connections=50, max_keepalive_connections=20)
        self._client = httpx2.AsyncClient(
            verify=_tls(ca), trust_env=False, limits=limits, timeout=httpx2.Timeout(timeout, connect=3.0)
        )
        self._kinds = Kinds(lambda path: self.request("GET", path))

    async def get(self, resource: str, name: str, namespace: str | None = None) -> Doc | None:
        """One object, or None. `resource` is `plural.group`: `pods`, `deployments.apps`."""
        try:
            kind = await self._kinds.resource(resource)
            return await self.request("GET", kind.path(namespace, name))
        except KubeProblem as error:
            if error.not_found:
                return None
            raise

    async def list(
        self, resource: str, namespace: str | None = None, labels: str | None = None, fields: str | None = None
    ) -> builtins.list[Doc]:
        """Every object, by selectors; all namespaces when none is named. [] when the kind is not there."""
        try:
            kind = await self._kinds.resource(resource)
            return await self._pages(kind.path(namespace), {"labelSelector": labels, "fieldSelector": fields})
        except KubeProblem as error:
            if error.not_found:
                return []
            raise

    async def _pages(self, path: str, selectors: Doc) -> builtins.list[Doc]:
        params: Doc = {k: v for k, v in selectors.items() if v} | {"limit": _PAGE}
        items: builtins.list[Doc] = []
        while True:
            page = await self.request("GET", path, params=params)
            items += page.get("items") or []
            further = (page.get("metadata") or {}).get("continue")
            if not further:
                return items
            params["continue"] = further

    async def apply(self, obj: Doc, *, force: bool = True) -> Doc:
        """Server-side apply as the field manager `instantstart`."""
        kind = await self._kinds.of(obj)
        metadata = obj["metadata"]
        return await self.request(
            "PATCH",
            kind.path(metadata.get("namespace"), metadata["name"]),
            params={"fieldManager": FIELD_MANAGER, "force": "true" if force else "false"},
            body=obj,
            content_type="application/apply-patch+yaml",
        )

    async def create(self, obj: Doc) -> Doc:
        """Create an object; `conflict` when it exists."""
        kind = await self._kinds.of(obj)
        path = kind.path(obj["metadata"].get("namespace"))
        return await self.request("POST", path, params={"fieldManager": FIELD_MANAGER}, body=obj)

    async def delete(
        self, resource: str, name: str, namespace: str | None = None, propagation: str = "Background"
    ) -> bool:
        """Ask for deletion; False when it is gone already."""
        try:
            kind = await self._kinds.resource(resource)
            body = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": propagation}
            await self.request("DELETE", kind.path(namespace, name), body=body)
        except KubeProblem as error:
            if error.not_found:
                return False
            raise
        return True

    async def patch(
        self, resource: str, name: str, body: Any, namespace: str | None = None, kind: PatchKind = "merge"
    ) -> Doc:
        """Patch an object."""
        found = await self._kinds.resource(resource)
        return await self.request(
            "PATCH",
            found.path(namespace, name),
            params={"fieldManager": FIELD_MANAGER},
            body=body,
            content_type=_PATCH_TYPES[kind],
        )

    async def logs(
        self,
        namespace: str,
        pod: str,
        container: str | None = None,
        tail: int | None = None,
        *,
        previous: bool = False,
    ) -> str:
        """A pod's log, the last `tail` lines. Untrusted text."""
        params: Doc = {"container": container, "tailLines": tail, "previous": "true" if previous else None}
        kept = {k: v for k, v in params.items() if v is not None}
        answer = await self._send("GET", f"/api/v1/namespaces/{namespace}/pods/{pod}/log", kept, None, None)
        return answer.content.decode(errors="replace")

    async def request(
        self,
        method: str,
        path: str,
        *,
        params: Doc | None = None,
        body: Any = None,
        content_type: str = "application/json",
    ) -> Doc:
        """One request to a path below the server's address; the JSON answer."""
        content = None if body is None else orjson.dumps(body)
        answer = await self._send(method, path, params, content, content_type)
        try:
            found: Doc = orjson.loads(answer.content)
        except orjson.JSONDecodeError as error:
            raise errors.unanswered(f"{method} {path}", error, changes=method != "GET") from error
        return found

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _send(
        self, method: str, path: str, params: Doc | None, content: bytes | None, content_type: str | None
    ) -> httpx2.Response:
        answer = await self._once(method, path, params, content, content_type, renew=False)
        if answer.status_code == 401:
            answer = await self._once(method, path, params, content, content_type, renew=True)
        if answer.status_code >= 400:
            raise errors.from_status(f"{method} {path}", answer.status_code, _status(answer), changes=method != "GET")
        return answer

    async def _once(
        self,
        method: str,
        path: str,
        params: Doc | None,
        content: bytes | None,
        content_type: str | None,
        *,
        renew: bool,
    ) -> httpx2.Response:
        headers = {
            "Authorization": f"Bearer {await self.token(renew)}",
            "Accept": "application/json",
            "User-Agent": f"instantstart/{__version__}",
        }
        if content is not None and content_type:
            headers["Content-Type"] = content_type
        what, changes = f"{method} {path}", method != "GET"
        try:
            answer = await self._client.request(
                method, self.server + path, params=params, content=content, headers=headers
            )
        except _NOT_SENT as error:
            self.broken = True
            raise errors.unreachable(what, error) from error
        except httpx2.HTTPError as error:
            raise errors.unanswered(what, error, changes=changes) from error
        self.broken = False
        return answer


def _status(answer: httpx2.Response) -> Doc:
    """The Status object of an error answer, or its text as the message."""
    try:
        found = orjson.loads(answer.content)
    except orjson.JSONDecodeError:
        found = None
    return found if isinstance(found, dict) else {"message": answer.text[:500] or answer.reason_phrase}


def _tls(ca: str | None) -> ssl.SSLContext:
    return ssl.create_default_context(cadata=ca) if ca else ssl.create_default_context()
