"""Replays recordings of a real API server against this one, in process, and compares statuses, bodies and events."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import orjson
import yaml

from instantstart_sandbox.kube import kubeconfig
from instantstart_sandbox.kube.normal import Normaliser, differs
from instantstart_sandbox.kube.objects import KubeApi
from instantstart_sandbox.kube.server import ApiServer
from instantstart_sandbox.world import World

Obj = dict[str, Any]
Install = Callable[[World, KubeApi], None]
CLUSTER, TOKEN = "replay", "replay-token"
_PATIENCE = 1.0
_AGENT = "python-requests/2.34"


@dataclass
class Score:
    """What was compared in one scenario; `missing` names what differed."""

    statuses: int = 0
    good_statuses: int = 0
    bodies: int = 0
    good_bodies: int = 0
    missing: list[str] = field(default_factory=list)
    details: list[str] = field(default_factory=list)


@dataclass
class Answer:
    """What came back."""

    status: int
    content_type: str
    body: bytes


class Client:
    """Speaks to the ASGI application without sockets."""

    def __init__(self, app: ApiServer) -> None:
        self.app = app

    async def send(
        self, request: Obj, on_chunk: Callable[[bytes], None] | None = None, stop: asyncio.Event | None = None
    ) -> Answer:
        """One request; a streamed answer is read until its end or `stop`."""
        headers = {"accept": "application/json", "user-agent": _AGENT, "authorization": f"Bearer {TOKEN}"}
        given = {k.lower(): v for k, v in (request.get("headers") or {}).items()}
        headers.update(given)
        if headers["authorization"] == "none":
            del headers["authorization"]
        body = _body(request)
        scope = {
            "type": "http",
            "method": request["method"],
            "path": f"/k8s/{CLUSTER}{request['path']}",
            "raw_path": f"/k8s/{CLUSTER}{quote(request['path'], safe='/:%')}".encode(),
            "query_string": urlencode(_pairs(request.get("query"))).encode(),
            "headers": [(k.encode(), str(v).encode("latin-1", "replace")) for k, v in headers.items()],
        }
        return await self._call(scope, body, on_chunk, stop or asyncio.Event())

    async def _call(
        self, scope: Obj, body: bytes, on_chunk: Callable[[bytes], None] | None, stop: asyncio.Event
    ) -> Answer:
        answer = Answer(0, "", b"")
        sent = False

        async def receive() -> Obj:
            nonlocal sent
            if not sent:
                sent = True
                return {"type": "http.request", "body": body, "more_body": False}
            await stop.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                answer.status = message["status"]
                answer.content_type = dict(message["headers"]).get(b"content-type", b"").decode()
            else:
                answer.body += message.get("body", b"")
                if on_chunk and message.get("body"):
                    on_chunk(message["body"])

        await self.app(scope, receive, send)
        return answer


def _pairs(query: Any) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for name, value in (query or {}).items():
        found.extend((name, str(v)) for v in (value if isinstance(value, list) else [value]))
    return found


def _body(request: Obj) -> bytes:
    if "raw" in request and request["raw"] is not None:
        raw = request["raw"]
        return base64.b64decode(raw["base64"]) if isinstance(raw, dict) else str(raw).encode()
    if request.get("body") is not None:
        return orjson.dumps(request["body"])
    return b""


class Replay:
    """One scenario against a fresh namespace of a running world."""

    def __init__(self, world: World, api: KubeApi, app: ApiServer, recording: Obj, crds: Path) -> None:
        self.world, self.api, self.recording, self.crds = world, api, recording, crds
        self.client = Client(app)
        self.score = Score()
        self.normal = Normaliser()
        self.at = 0

    async def run(self) -> Score:
        """Play every step."""
        await self.settle()
        for i, step in enumerate(self.recording["steps"]):
            self.at = i
            await self.step(step)
        return self.score

    async def settle(self, seconds: float = 0.0) -> None:
        """Let the world's own work happen."""
        self.world.work.drain()
        if seconds:
            await self.world.timers.advance(seconds)
        await asyncio.sleep(0)

    def miss(self, what: str, why: str) -> None:
        """Note a difference."""
        self.score.missing.append(f"{self.recording['file']}#{self.at} {what}")
        self.score.details.append(f"{self.recording['file']}#{self.at} {what}: {why}")

    async def step(self, step: Obj) -> None:
        """One step of whatever kind."""
        if step.get("watch"):
            await self.watch(step)
        elif "request" in step:
            await self.request(step)
        elif "wait" in step:
            await self.wait(step["wait"])
        elif "sleep" in step:
            await self.settle(float(step["sleep"]))
        elif "install" in step:
            await self.install(step["install"])

    async def request(self, step: Obj) -> None:
        """Send and compare."""
        request = self.normal.fill(step["request"])
        answer = await self.bounded(request)
        await self.settle()
        wanted = step["response"]
        self.score.statuses += 1
        label = f"{request['method']} {request['path'].partition('?')[0]}"
        if answer.status != wanted["status"]:
            self.miss("status", f"{label} {answer.status} instead of {wanted['status']}: {answer.body[:300]!r}")
        else:
            self.score.good_statuses += 1
        value = _parse(answer)
        if step.get("setup") or answer.status != wanted["status"]:
            self.normal.learn(wanted.get("body"), value)
            return
        self.compare(step, value, wanted.get("body"), label)

    async def bounded(self, request: Obj) -> Answer:
        """Send; an answer that goes on (a watch among plain steps, followed logs) is cut off after a moment."""
        stop = asyncio.Event()
        task = asyncio.ensure_future(self.client.send(request, None, stop))
        done, _ = await asyncio.wait({task}, timeout=_PATIENCE)
        if not done:
            stop.set()
        return await task

    def compare(self, step: Obj, value: Any, wanted: Any, label: str) -> None:
        """Compare one body."""
        self.score.bodies += 1
        strict = self.recording["area"] == "apply"
        why = differs(self.normal, wanted, value, managed=strict, trimmed=bool(step.get("trimmed")))
        if why:
            self.miss("body", f"{label}: {why}")
        else:
            self.score.good_bodies += 1

    async def watch(self, step: Obj) -> None:
        """Open a watch, run what happens meanwhile, compare the events."""
        request = self.normal.fill(step["request"])
        request["query"] = {**(request.get("query") or {})}
        events: list[Any] = []
        wanted = step["response"].get("events") or []
        stop, rest = asyncio.Event(), b""

        def chunk(data: bytes) -> None:
            nonlocal rest
            rest += data
            *lines, rest = rest.split(b"\n")
            events.extend(orjson.loads(x) for x in lines if x)

        task = asyncio.ensure_future(self.client.send(request, chunk, stop))
        await asyncio.sleep(0)
        for inner in step.get("during") or []:
            await self.step(inner)
        for _ in range(20):
            await self.settle()
            if len(events) >= len(wanted) or task.done():
                break
            await self.settle(0.5)
        limit = (step["request"].get("query") or {}).get("timeoutSeconds")
        if limit and len(events) < len(wanted):
            await asyncio.wait({task}, timeout=min(float(limit), 3.0) + 1)
        stop.set()
        answer = await task
        self.score.statuses += 1
        if answer.status != step["response"]["status"]:
            self.miss("status", f"watch {request['path']} {answer.status} instead of {step['response']['status']}")
            return
        self.score.good_statuses += 1
        if "body" in step["response"] and not wanted:
            self.compare(step, _parse(answer), step["response"]["body"], "watch")
        else:
            self.compare(step, events[: max(len(wanted), 1)] if wanted else events, wanted, "watch")

    async def wait(self, wait: Obj) -> None:
        """Read until the conditions hold or the (world) seconds are over."""
        path = self.normal.fill({"path": wait["path"]})["path"]
        conditions = self.normal.fill({"c": wait["until"]})["c"]
        for _ in range(int(wait.get("seconds", 15)) * 2 + 1):
            answer = await self.client.send({"method": "GET", "path": path})
            if all(_holds(c, answer) for c in conditions):
                return
            await self.settle(0.5)
        self.miss("wait", f"{path} never became {conditions}")

    async def install(self, name: str) -> None:
        """Create a definition of the neighbouring folder."""
        for document in definitions(self.crds.parent / name):
            install_definition(self.api, document)
        await self.settle()


@lru_cache(maxsize=64)
def definitions(path: Path) -> tuple[Obj, ...]:
    """The custom definitions in a file."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    found = yaml.load_all(path.read_bytes(), Loader=loader)
    return tuple(d for d in found if d and d.get("kind") == "CustomResourceDefinition")


def every_definition(crds: Path) -> list[Obj]:
    """The custom definitions of a folder."""
    return [d for path in sorted(crds.glob("*/*.yaml")) for d in definitions(path)]


def install_definition(api: KubeApi, document: Obj) -> None:
    """Create a custom definition, without a conversion webhook, unless it is there."""
    key = "customresourcedefinitions.apiextensions.k8s.io"
    document = {**document, "spec": {**document["spec"], "conversion": {"strategy": "None"}}}
    if api.get(CLUSTER, key, None, document["metadata"]["name"]) is None:
        api.create(CLUSTER, key, document)


def _parse(answer: Answer) -> Any:
    if "json" in answer.content_type and answer.body:
        try:
            return orjson.loads(answer.body)
        except orjson.JSONDecodeError:
            return answer.body.decode(errors="replace")
    if answer.body[:1] in (b"{", b"["):
        try:
            return orjson.loads(answer.body)
        except orjson.JSONDecodeError:
            pass
    return answer.body.decode(errors="replace")


def _holds(condition: Obj, answer: Answer) -> bool:
    if "status" in condition and "at" not in condition:
        return bool(answer.status == condition["status"])
    value = _parse(answer)
    for part in str(condition["at"]).strip("/").split("/"):
        value = _pick(value, part)
    if "length" in condition:
        return value is not None and len(value) == condition["length"]
    return bool(value == condition.get("equals"))


def _pick(value: Any, part: str) -> Any:
    name, _, rest = part.replace("~1", "/").replace("~0", "~").partition("[")
    if isinstance(value, list) and name.lstrip("-").isdigit():
        return value[int(name)] if int(name) < len(value) else None
    if name:
        value = value.get(name) if isinstance(value, dict) else None
    if rest and isinstance(value, list):
        key, _, wanted = rest.rstrip("]").partition("=")
        return next((v for v in value if str(v.get(key)) == wanted), None)
    return value


def new_world(install: Install | None) -> tuple[World, KubeApi, ApiServer]:
    """A world with one empty cluster as the recordings' server was: no service account admission, no kubelet."""
    world = World(mode="explicit")
    api = KubeApi(world)
    app = ApiServer(world, api)
    if install is not None:
        install(world, api)
    api.create_cluster(
        CLUSTER, "1.36", service_accounts=False, service_cidr="10.96.0.0/16", anonymous=True, git_version="v1.36.2"
    )
    kubeconfig.add_token(api, CLUSTER, TOKEN, "replay")
    return world, api, app


async def play(recording: Obj, crds: Path, install: Install | None = None) -> Score:
    """Replay one recording in a world of its own."""
    world, api, app = new_world(install)
    if recording["area"] == "crd-real" or recording["name"] == "strategic_custom":
        for document in every_definition(crds):
            install_definition(api, document)
    name = recording.get("namespace")
    if name and api.get(CLUSTER, "namespaces", None, name) is None:
        api.create(CLUSTER, "namespaces", {"metadata": {"name": name}})
    try:
        return await Replay(world, api, app, recording, crds).run()
    finally:
        world.store.close()


def load(folder: Path) -> list[Obj]:
    """The recordings of a folder (or of its `open/`), by file name."""
    place = folder / "open" if (folder / "open").is_dir() else folder
    found = []
    for path in sorted(place.glob("*.json")):
        found.append({**orjson.loads(path.read_bytes()), "file": path.stem})
    return found


Player = Callable[[Obj, Path], Awaitable[Score]]
