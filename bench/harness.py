"""Starts `instantstart up` on a state folder, talks to it as a stranger would, and kills it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx2

TOKEN = "bench-admin-token-0123456789"
CREATE: dict[str, Any] = {
    "tag": "demo",
    "availability_zone": "us-west-2a",
    "instance_type": "ml.g5.8xlarge",
    "instance_count": 2,
    "capacity_type": "on_demand",
}
TERMINAL = {"succeeded", "failed", "cancelled", "superseded", "rejected", "expired"}


def free_port() -> int:
    """A TCP port that nothing listens on now."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


class Up:
    """One state folder and whatever runs on it."""

    def __init__(self, state_dir: Path, speed: float) -> None:
        self.state_dir, self.speed = state_dir, speed
        self.port = free_port()
        self.process: subprocess.Popen[bytes] | None = None
        self.client = httpx2.Client(headers={"Authorization": f"Bearer {TOKEN}"}, timeout=30)

    def start(self, patience: float = 60.0) -> float:
        """Start, or resume; returns the seconds until the service answered."""
        began = time.monotonic()
        command = [sys.executable, "-m", "instantstart.cli", "up", "--no-browser", "--state-dir", str(self.state_dir)]
        command += ["--port", str(self.port), "--speed", str(self.speed), "--token", TOKEN]
        log = (self.state_dir / "up.log").open("ab")
        self.process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
        log.close()
        while time.monotonic() - began < patience:
            if self.process.poll() is not None:
                raise RuntimeError(f"up ended: {(self.state_dir / 'up.log').read_text()[-2000:]}")
            with suppress(OSError, httpx2.HTTPError, KeyError, json.JSONDecodeError):
                run = self.run()
                alive = all(_alive(run[part]["pid"]) for part in ("service", "sandbox"))
                if alive and self.client.get(f"{run['service']['url']}/healthz").status_code == 200:
                    return time.monotonic() - began
            time.sleep(0.05)
        raise RuntimeError(f"not ready after {patience} s: {(self.state_dir / 'up.log').read_text()[-2000:]}")

    def run(self) -> dict[str, Any]:
        """The folder's run.json."""
        found: dict[str, Any] = json.loads((self.state_dir / "run.json").read_text())
        return found

    def kill(self, *parts: str) -> None:
        """SIGKILL the service, the sandbox or both, then make sure that the launcher is gone too."""
        run = self.run()
        for part in parts:
            with suppress(ProcessLookupError):
                os.kill(run[part]["pid"], signal.SIGKILL)
        if self.process is not None:
            with suppress(ProcessLookupError):
                os.kill(self.process.pid, signal.SIGKILL)
            self.process.wait(10)

    def stop(self) -> None:
        """End both processes for good."""
        with suppress(OSError, KeyError, json.JSONDecodeError):
            self.kill("service", "sandbox")
        if self.process is not None:
            with suppress(ProcessLookupError):
                self.process.kill()
            self.process.wait(10)
        self.client.close()

    def api(self, method: str, path: str, **more: Any) -> Any:
        """One REST call; raises on a problem."""
        answer = self.client.request(method, f"{self.run()['service']['url']}/api/v1{path}", **more)
        if answer.status_code >= 400:
            raise RuntimeError(f"{method} {path}: {answer.status_code} {answer.text}")
        return answer.json()

    def sandbox(self, method: str, path: str, **more: Any) -> Any:
        """One call to the sandbox's control."""
        answer = self.client.request(method, f"{self.run()['sandbox']['url']}/_sandbox{path}", **more)
        answer.raise_for_status()
        return answer.json()

    def requests(self) -> list[dict[str, Any]]:
        """The sandbox's whole request log."""
        items: list[dict[str, Any]] = []
        after = 0
        while True:
            page = self.sandbox("GET", f"/requests?after={after}&limit=1000")
            items += page["items"]
            if page["next"] is None:
                return items
            after = page["next"]


@contextmanager
def up(speed: float, state_dir: Path | None = None) -> Iterator[Up]:
    """A fresh folder (or the given one) with everything running; all ended afterwards."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        running = Up(state_dir or Path(folder), speed)
        try:
            running.start()
            yield running
        finally:
            running.stop()


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
