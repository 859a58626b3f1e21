"""The sandbox as a process of its own: start it, adopt or replace one that was left over, restart it, stop it."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from instantstart import __version__
from instantstart.cli import CliError
from instantstart.state_folder import StateFolder

_RECORD = "process.json"
_START_SECONDS = 60.0
_STOP_SECONDS = 10.0
PASSED_ON = frozenset({"PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "USER", "LOGNAME", "VIRTUAL_ENV", "TERM"})
"""The only environment variables that reach service and sandbox in `up`."""


def clean_environment(env: dict[str, str]) -> dict[str, str]:
    """What is left of an environment when nothing in it can lead a client off this machine."""
    return {k: v for k, v in env.items() if k in PASSED_ON}


@dataclass(frozen=True)
class Ports:
    """Where the three listeners of a state folder are."""

    service: int
    sandbox: int
    kube: int


class SandboxProcess:
    """The one sandbox process of a state folder."""

    def __init__(self, folder: StateFolder, ports: Ports, speed: float | None) -> None:
        self._home = StateFolder(folder.path / "sandbox")
        self._home.make()
        self._ports, self._speed = ports, speed
        self.url = f"http://127.0.0.1:{ports.sandbox}"
        self.pid = 0
        self.adopted = False
        self._child: subprocess.Popen[bytes] | None = None

    @property
    def log_path(self) -> Path:
        """Where the sandbox writes what it has to say."""
        return self._home.path / "sandbox.log"

    def start(self) -> None:
        """Adopt the left-over process if it is well and of this version, else replace it. Does not wait."""
        left = self._left_over()
        if left is not None and self._is_usable(left):
            self.pid, self.adopted = left, True
            self._set_speed()
            return
        if left is not None:
            _end(left)
        self._spawn()

    def _spawn(self) -> None:
        command = [sys.executable, "-m", "instantstart_sandbox", "--state-dir", str(self._home.path)]
        command += ["--port", str(self._ports.sandbox), "--kube-port", str(self._ports.kube)]
        if self._speed is not None:
            command += ["--speed", str(self._speed)]
        with self.log_path.open("ab") as log:
            self._child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=clean_environment(dict(os.environ)),
                start_new_session=True,
            )
        self.pid, self.adopted = self._child.pid, False
        self._home.write(_RECORD, self._record(self.pid))

    async def until_ready(self) -> None:
        """Wait until it answers. Raises CliError when it ends or does not answer in time."""
        deadline = time.monotonic() + _START_SECONDS
        async with httpx2.AsyncClient(trust_env=False, timeout=2.0) as client:
            while not await _answers(client, self.url):
                if self.is_gone():
                    raise CliError(f"The sandbox ended while it started. Its last words: {self._last_words()}")
                if time.monotonic() > deadline:
                    raise CliError(f"The sandbox does not answer at {self.url}; see {self.log_path}.")
                await asyncio.sleep(0.05)

    def is_gone(self) -> bool:
        """Whether the process has ended."""
        if self._child is not None:
            return self._child.poll() is not None
        return not _is_alive(self.pid)

    async def until_gone(self) -> None:
        """Return when the process has ended."""
        while not self.is_gone():  # noqa: ASYNC110 - an adopted process is nobody's child
            await asyncio.sleep(0.5)

    def stop(self) -> None:
        """End the process, politely first."""
        if self._child is not None:
            self._child.terminate()
            try:
                self._child.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._child.kill()
                self._child.wait()
        elif self.pid:
            _end(self.pid)

    def _left_over(self) -> int | None:
        """Pid of a sandbox process that an earlier `up` left on this folder."""
        pid = self._home.read(_RECORD).get("pid")
        if not isinstance(pid, int) or not _is_alive(pid):
            return None
        words = _command_line(pid)
        return pid if "instantstart_sandbox" in words and str(self._home.path) in words else None

    def _is_usable(self, pid: int) -> bool:
        if self._home.read(_RECORD) != self._record(pid):
            return False
        try:
            return httpx2.get(f"{self.url}/_sandbox/clock", timeout=3, trust_env=False).status_code == 200
        except httpx2.HTTPError:
            return False

    def _record(self, pid: int) -> dict[str, Any]:
        """What is written down of a process that was started: where it is, and which code it runs."""
        return {"pid": pid, "url": self.url, "version": __version__, "code": _newest_source()}

    def _set_speed(self) -> None:
        if self._speed is not None:
            with contextlib.suppress(httpx2.HTTPError):
                httpx2.post(f"{self.url}/_sandbox/clock", json={"speed": self._speed}, timeout=5, trust_env=False)

    def _last_words(self) -> str:
        try:
            lines = self.log_path.read_text(errors="replace").strip().splitlines()
        except OSError:
            lines = []
        return f"{lines[-1] if lines else 'none'} (see {self.log_path})"


def _newest_source() -> float:
    """When the newest file of the sandbox's code was written; a process that is older runs other code."""
    found = importlib.util.find_spec("instantstart_sandbox")
    places = found.submodule_search_locations if found else None
    return max((p.stat().st_mtime for place in places or () for p in Path(place).rglob("*.py")), default=0.0)


async def _answers(client: httpx2.AsyncClient, url: str) -> bool:
    try:
        return (await client.get(f"{url}/_sandbox/clock")).status_code == 200
    except httpx2.HTTPError:
        return False


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return not _is_zombie(pid)


def _is_zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (OSError, IndexError):
        return False


def _command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        shown = subprocess.run(["ps", "-o", "command=", "-p", str(pid)], capture_output=True, text=True, check=False)
        return shown.stdout


def _end(pid: int) -> None:
    """End a process that is not our child."""
    for number, patience in ((signal.SIGTERM, _STOP_SECONDS), (signal.SIGKILL, 5.0)):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            if not _is_alive(pid):
                return
            time.sleep(0.05)
