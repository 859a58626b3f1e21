"""An HTTP protocol for uvicorn whose applications may close the connection without an answer (lost and late requests).

Use as `uvicorn.Config(..., http=AbortableProtocol)`; the scope's extension `instantstart.abort` closes the socket.
"""

from __future__ import annotations

from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

ABORT = "instantstart.abort"


class AbortableProtocol(H11Protocol):
    """HTTP/1.1 whose requests carry a way to drop the connection."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        inner = self.app

        async def app(scope: Any, receive: Any, send: Any) -> None:
            scope["extensions"] = {**(scope.get("extensions") or {}), ABORT: self._drop}
            await inner(scope, receive, send)

        self.app = app

    def _drop(self) -> None:
        if self.transport is not None:
            self.transport.abort()
