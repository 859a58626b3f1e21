"""A whole sandbox for tests: real ports, explicit clock, real clients, every answer checked against its shape."""

from __future__ import annotations

import asyncio
import json
import os
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.model import OperationModel
from botocore.validate import ParamValidator

from instantstart_sandbox.assembly import Sandbox, build
from instantstart_sandbox.aws.wire import validation

ACCESS_KEY, SECRET_KEY, REGION = "AKIASANDBOX000000000", "sandbox-secret", "us-west-2"


class RunningSandbox:
    """A sandbox in a thread of its own. `wrong_answers` lists answers that did not fit their output shape."""

    def __init__(self, folder: Path, *, mode: str = "explicit", speed: float | None = None) -> None:
        self.folder = folder
        self.wrong_answers: list[str] = []
        self._mode, self._speed = mode, speed
        self._ports = (0, 0)
        self._clients: dict[str, Any] = {}
        self._start()

    def _start(self) -> None:
        self._ready, self._end = threading.Event(), asyncio.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=lambda: asyncio.run(self._main()), daemon=True)
        self._thread.start()
        assert self._ready.wait(60), "the sandbox did not start"
        if self._failure is not None:
            raise self._failure

    async def _main(self) -> None:
        self.loop = asyncio.get_running_loop()
        self._end = asyncio.Event()
        try:
            self.sandbox: Sandbox = build(
                self.folder,
                mode=self._mode,  # type: ignore[arg-type]
                speed=self._speed,
                port=self._ports[0],
                kube_port=self._ports[1],
            )
            self.sandbox.answer_check = self._check
            await self.sandbox.start()
        except BaseException as error:
            self._failure = error
            raise
        finally:
            self._ready.set()
        self._ports = (self.sandbox.port, self.sandbox.kube_port)
        await self._end.wait()
        await self.sandbox.stop()

    def _check(self, operation: OperationModel, result: dict[str, Any]) -> None:
        if operation.output_shape is None:
            return
        result = _without_none(result)
        report = ParamValidator().validate(result, operation.output_shape)
        found = validation.faults(operation.output_shape, result)
        tags = "tags' failed to satisfy constraint: Member must have length greater than or equal to 1"
        found = [f for f in found if tags not in f]  # Describe shows {} where there are no tags
        if report.has_errors() or found:
            self.wrong_answers.append(f"{operation.name}: {report.generate_report()} {found}")

    @property
    def url(self) -> str:
        """The AWS endpoint."""
        return self.sandbox.url

    @property
    def kube_url(self) -> str:
        """The Kubernetes endpoint, without `/k8s/<cluster>`."""
        return self.sandbox.kube_url

    def client(self, service: str, access_key: str = ACCESS_KEY) -> Any:
        """A boto3 client that makes every call once."""
        key = f"{service} {access_key}"
        if key not in self._clients:
            self._clients[key] = boto3.client(
                service,
                endpoint_url=self.url,
                region_name=REGION,
                aws_access_key_id=access_key,
                aws_secret_access_key=SECRET_KEY,
                config=Config(retries={"total_max_attempts": 1}, s3={"addressing_style": "path"}, read_timeout=20),
            )
        return self._clients[key]

    def run(self, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call a function on the sandbox's loop."""

        async def call() -> Any:
            return fn(*args, **kwargs)

        return asyncio.run_coroutine_threadsafe(call(), self.loop).result(30)

    def control(
        self, path: str, body: dict[str, Any] | None = None, method: str | None = None, **headers: str
    ) -> tuple[int, dict[str, Any]]:
        """A call of `/_sandbox/<path>`: status and JSON."""
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(f"{self.url}/_sandbox/{path}", data=data, method=method)
        for name, value in headers.items():
            request.add_header(name.replace("_", "-"), value)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)

    def advance(self, seconds: float) -> None:
        """Move the explicit clock; timers that fell due have fired when this returns."""
        status, answer = self.control("clock", {"advance_seconds": seconds})
        assert status == 200, answer

    def fault(self, kind: str, **fields: Any) -> dict[str, Any]:
        """Add a fault."""
        status, answer = self.control("faults", {"kind": kind, **fields})
        assert status == 200, answer
        return answer

    def requests(self, service: str | None = None) -> list[dict[str, Any]]:
        """The request log, or one service's part of it."""
        items = self.control("requests?limit=10000")[1]["items"]
        return [r for r in items if service in (None, r["service"])]

    def world(self) -> dict[str, int]:
        """What exists, by kind."""
        return self.control("world")[1]

    def environment(self) -> dict[str, str]:
        """For `aws` and `kubectl` in a process of their own."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ACCESS_KEY_ID": ACCESS_KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_PAGER": "",
            "AWS_EC2_METADATA_DISABLED": "true",
            "KUBECONFIG": str(self.kubeconfig),
        }

    @property
    def kubeconfig(self) -> Path:
        """Where `aws eks update-kubeconfig` of `environment()` writes."""
        return self.folder / "kubeconfig"

    def restart(self) -> None:
        """End the sandbox and start it again on the same folder and ports."""
        self.stop()
        self._start()

    def stop(self) -> None:
        """End it."""
        self.loop.call_soon_threadsafe(self._end.set)
        self._thread.join(20)
        assert not self._thread.is_alive(), "the sandbox did not end"


def _without_none(value: Any) -> Any:
    """As the wire sends it: members that are None are left out."""
    if isinstance(value, dict):
        return {k: _without_none(v) for k, v in value.items() if v is not None}
    return [_without_none(v) for v in value] if isinstance(value, list) else value


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[RunningSandbox]:
    """A new world on an explicit clock; ends with a failure when an answer did not fit its shape."""
    running = RunningSandbox(tmp_path / "sandbox")
    yield running
    running.stop()
    assert not running.wrong_answers, running.wrong_answers
