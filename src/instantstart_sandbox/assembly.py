"""Puts a sandbox together: world, services, Kubernetes endpoint, controllers, and the two servers on one loop."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any

from botocore.model import OperationModel

from instantstart_sandbox import defaults
from instantstart_sandbox.app import AwsApp
from instantstart_sandbox.aws.access import Access
from instantstart_sandbox.aws.cloudformation import CloudFormation
from instantstart_sandbox.aws.eks import Eks
from instantstart_sandbox.aws.eks.parts import Parts
from instantstart_sandbox.aws.front import Check, Front
from instantstart_sandbox.aws.identity import CallerIdentity
from instantstart_sandbox.aws.moto_bridge import MotoBridge
from instantstart_sandbox.aws.registry import ServiceApi
from instantstart_sandbox.aws.sagemaker import SageMaker
from instantstart_sandbox.aws.servicequotas import ServiceQuotas
from instantstart_sandbox.aws.views import AwsViews
from instantstart_sandbox.charts import charts_app
from instantstart_sandbox.control import Control
from instantstart_sandbox.controllers import install
from instantstart_sandbox.inventory import count
from instantstart_sandbox.kube.objects import KubeApi
from instantstart_sandbox.kube.server import ApiServer
from instantstart_sandbox.kube.tls import CaFiles, ensure_ca
from instantstart_sandbox.server import Server, listen
from instantstart_sandbox.world import World
from instantstart_sandbox.world.clock import Mode

Asgi = Callable[[MutableMapping[str, Any], Any, Any], Awaitable[None]]
log = logging.getLogger("sandbox")
CHARTS = "/_sandbox/charts/"
"""Where the stand-in charts are served, on the AWS port."""


class Sandbox:
    """A whole sandbox. After `reset()` the attributes are those of the new world; the ports stay."""

    def __init__(
        self, state_dir: Path, mode: Mode | None, speed: float | None, sockets: tuple[socket.socket, socket.socket]
    ) -> None:
        self.state_dir = state_dir
        self.sockets = sockets
        self.port, self.kube_port = (s.getsockname()[1] for s in sockets)
        self.ca: CaFiles = ensure_ca(state_dir)
        self._timers: asyncio.Task[None] | None = None
        self.broken: asyncio.Future[BaseException] | None = None
        """Done with the error when the world could not go on; whoever runs the sandbox then ends it."""
        self._servers: list[Server] = []
        self.answer_check: Check | None = None
        self._build(World(state_dir, mode=mode, speed=speed))

    @property
    def url(self) -> str:
        """Where AWS calls and the control interface go."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def kube_url(self) -> str:
        """Where the clusters' API servers are, below `/k8s/<cluster>`."""
        return f"https://127.0.0.1:{self.kube_port}"

    def _build(self, world: World) -> None:
        self.world = world
        defaults.install(world)
        self.access = Access(world)
        self.kube = KubeApi(world)
        self.bridge = MotoBridge(world)
        self.views = AwsViews(world, self.bridge)
        self.kube_app = ApiServer(world, self.kube, self.access.principal_of)
        parts = Parts(world, self.views, self.kube, f"{self.kube_url}/k8s", self.ca.ca_data)
        services: list[ServiceApi] = [
            CallerIdentity(),
            ServiceQuotas(),
            CloudFormation(),
            Eks(parts),
            SageMaker(world, self.views, self.kube),
        ]
        self.controllers = install(world, self.kube, self.views)
        self.front = Front(world, services, self.bridge, self.access, self._checked)
        self.control = Control(world, lambda: count(self.world, self.views, self.kube), self.reset)
        self.aws_app = AwsApp(self.front, self.control)
        self.charts_app = charts_app(world)

    def _checked(self, operation: OperationModel, result: dict[str, Any]) -> None:
        if self.answer_check is not None:
            self.answer_check(operation, result)

    async def start(self) -> None:
        """Serve both ports and let time pass. Answers when both listen."""
        self.broken = asyncio.get_running_loop().create_future()
        self._begin_time()
        aws = Server(self._to_aws, self.sockets[0])
        kube = Server(self._to_kube, self.sockets[1], certificate=self.ca.certificate, key=self.ca.key)
        self._servers = [aws, kube]
        for server in self._servers:
            await server.start()

    def _begin_time(self) -> None:
        self._timers = asyncio.create_task(self.world.timers.run())
        self._timers.add_done_callback(self._time_ended)

    def _time_ended(self, task: asyncio.Task[None]) -> None:
        """Time ends only when it is told to: a world whose handler broke must not look alive."""
        error = None if task.cancelled() else task.exception()
        if error is not None and self.broken is not None and not self.broken.done():
            log.critical("the world cannot go on", exc_info=error)
            self.broken.set_result(error)

    async def _to_aws(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        charts = scope["type"] == "http" and scope["path"].startswith(CHARTS)
        await (self.charts_app if charts else self.aws_app)(scope, receive, send)

    async def _to_kube(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        await self.kube_app(scope, receive, send)

    async def stop(self) -> None:
        """Stop serving; the state stays in the folder. Whoever waits on the clock is answered first."""
        self.world.clock.set()
        for server in self._servers:
            await server.stop()
        await self._stop_time()
        self.world.clock.keep()
        self.world.store.close()

    async def _stop_time(self) -> None:
        if self._timers is not None:
            self._timers.cancel()
            await asyncio.gather(self._timers, return_exceptions=True)
            self._timers = None

    async def reset(self) -> None:
        """Begin a new world in the same folder, on the same ports; its clock goes on."""
        running = self._timers is not None
        await self._stop_time()
        clock = self.world.clock
        clock.keep()
        kept = self.world.store.meta("clock")
        self.world.store.clear()
        self.world.store.set_meta("clock", kept)
        self.world.store.close()
        self._build(World(self.state_dir))
        if running:
            self._begin_time()


def build(
    state_dir: Path, *, mode: Mode | None = None, speed: float | None = None, port: int = 0, kube_port: int = 0
) -> Sandbox:
    """A sandbox on a state folder. Port 0 takes a free one; the ports are bound here, served after `start()`."""
    state_dir.mkdir(parents=True, exist_ok=True)
    return Sandbox(state_dir, mode, speed, (listen(port), listen(kube_port)))
