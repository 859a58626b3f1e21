"""`pods/log`: which container, how much of its output, and following it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from instantstart_sandbox.kube import listing
from instantstart_sandbox.kube.ages import parse
from instantstart_sandbox.kube.engine import Engine
from instantstart_sandbox.kube.logs import Line, LogBook, Stream
from instantstart_sandbox.kube.paths import Target
from instantstart_sandbox.kube.status import Cause, bad_request, invalid, not_found
from instantstart_sandbox.kube.store import ClusterState
from instantstart_sandbox.kube.wire import Request, Response

Obj = dict[str, Any]
_CONTENT = "text/plain"


def _containers(pod: Obj) -> list[str]:
    spec = pod["spec"]
    parts = ("initContainers", "containers", "ephemeralContainers")
    return [c["name"] for part in parts for c in spec.get(part) or []]


def _container(pod: Obj, request: Request) -> str:
    name, known = request.arg("container"), _containers(pod)
    label = pod["metadata"]["name"]
    if name:
        if name not in known:
            raise bad_request(f"container {name} is not valid for pod {label}")
        return name
    plain = [c["name"] for c in pod["spec"].get("containers") or []]
    chosen = (pod["metadata"].get("annotations") or {}).get("kubectl.kubernetes.io/default-container")
    if chosen in plain:
        return str(chosen)
    if len(plain) == 1 and len(known) == 1:
        return str(plain[0])
    init = [c["name"] for c in pod["spec"].get("initContainers") or []]
    tail = f" or one of the init containers: [{' '.join(init)}]" if init else ""
    raise bad_request(f"a container name must be specified for pod {label}, choose one of: [{' '.join(plain)}]{tail}")


def _check(request: Request, name: str) -> None:
    causes: list[Cause] = []
    for field in ("tailLines", "sinceSeconds", "limitBytes"):
        value = listing.number(request, field)
        low = 0 if field == "tailLines" else 1
        if request.arg(field) and value < low:
            word = "greater than or equal to 0" if low == 0 else "greater than 0"
            causes.append(Cause(field, "FieldValueInvalid", f"Invalid value: {value}: must be {word}"))
    if request.arg("sinceSeconds") and request.arg("sinceTime"):
        text = "Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified"
        causes.append(Cause("[]", "FieldValueForbidden", text))
    if causes:
        raise invalid("PodLogOptions", "", name, causes)


def _status_of(pod: Obj, container: str) -> Obj | None:
    status = pod.get("status") or {}
    for part in ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"):
        for item in status.get(part) or []:
            if item["name"] == container:
                found: Obj = item
                return found
    return None


def serve(engine: Engine, state: ClusterState, book: LogBook, request: Request, target: Target) -> Response:
    """The answer to GET pods/NAME/log."""
    kind = engine.kind_of(state, "pods")
    pod = engine.get(state, kind, target.namespace, target.name)
    _check(request, target.name)
    container = _container(pod, request)
    stream = (state.name, target.namespace, target.name, container)
    node = pod["spec"].get("nodeName")
    if node and ("", node) not in state.table("nodes").entries and not book.has(stream, False):
        raise not_found("pods", "", node)
    if not pod["spec"].get("nodeName"):
        return Response(200 if request.flag("follow") else 204, b"", _CONTENT)
    previous = request.flag("previous")
    found = _status_of(pod, container)
    _refuse(request, pod, container, found, previous and not book.has(stream, True), book.has(stream, False))
    since = 0.0
    if request.arg("sinceSeconds"):
        since = engine.world.clock.time() - listing.number(request, "sinceSeconds")
    elif request.arg("sinceTime"):
        since = parse(request.arg("sinceTime"))
    lines = book.read(stream, previous=previous, since=since)
    if request.arg("tailLines"):
        count = listing.number(request, "tailLines")
        lines = lines[-count:] if count else []
    if request.flag("follow") and not previous:
        return Response(200, content_type=_CONTENT, stream=_Follow(engine, state, book, stream, lines, request).run)
    body = _text(lines, request)
    limit = listing.number(request, "limitBytes")
    return Response(200, body[:limit] if limit else body, _CONTENT)


def _refuse(request: Request, pod: Obj, container: str, found: Obj | None, no_previous: bool, has_output: bool) -> None:
    name = pod["metadata"]["name"]
    if no_previous:
        raise bad_request(f'previous terminated container "{container}" in pod "{name}" not found')
    state = (found or {}).get("state") or {}
    waiting = state.get("waiting") or {}
    if not has_output and not request.flag("previous") and ("waiting" in state or not found):
        reason = waiting.get("reason", "ContainerCreating")
        words = {
            "ImagePullBackOff": "trying and failing to pull image",
            "ErrImagePull": "image can't be pulled",
        }
        raise bad_request(f'container "{container}" in pod "{name}" is waiting to start: {words.get(reason, reason)}')


def _text(lines: list[Line], request: Request) -> bytes:
    stamped = request.flag("timestamps")
    return b"".join(((x.stamped() if stamped else x.text) + "\n").encode() for x in lines)


class _Follow:
    """Output as it comes, until the container has ended or the pod is gone."""

    def __init__(
        self, engine: Engine, state: ClusterState, book: LogBook, stream: Stream, first: list[Line], request: Request
    ) -> None:
        self.engine, self.state, self.book, self.stream = engine, state, book, stream
        self.request, self.first = request, first
        tail = book.read(stream)
        self.last = tail[-1].seq if tail else 0
        self.wake = asyncio.Event()
        self.table = state.table("pods")

    def _over(self) -> bool:
        entry = self.table.entries.get((self.stream[1], self.stream[2]))
        if entry is None:
            return True
        found = _status_of(entry.obj, self.stream[3])
        return found is not None and "terminated" in (found.get("state") or {})

    def _changed(self, _change: Any = None) -> None:
        self.wake.set()

    async def run(self) -> AsyncIterator[bytes]:
        """Chunks of output."""
        stop = self.book.listen(self.stream, self._changed)
        self.table.listeners.append(self._changed)
        try:
            if self.first:
                yield _text(self.first, self.request)
            while True:
                self.wake.clear()
                over = self._over()
                lines = self.book.read(self.stream, after=self.last)
                if lines:
                    self.last = lines[-1].seq
                    yield _text(lines, self.request)
                if over:
                    return
                await self.wake.wait()
        finally:
            stop()
            self.table.listeners.remove(self._changed)
