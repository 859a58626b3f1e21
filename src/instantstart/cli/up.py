"""`instantstart up`: sandbox and service on one state folder, until Ctrl-C. Resumes whatever an earlier one left."""

from __future__ import annotations

import asyncio
import os
import time
import webbrowser
from pathlib import Path
from typing import Any

from rich.console import Console

from instantstart.cli import CliError, say
from instantstart.cli.hosting import bind, free_port, host_app, is_free
from instantstart.cli.local import call, folder_at, login_url, wait_healthy
from instantstart.cli.sandbox_process import Ports, SandboxProcess, clean_environment
from instantstart.state_folder import StateFolder

DEFAULT_PORT = 3099
ACCESS_KEY, SECRET_KEY, REGION = "AKIASANDBOXADMIN0001", "sandbox-secret-of-the-admin", "us-west-2"
NOTICE = "Sandbox: nothing here is real, and no AWS account is touched."
_RESTARTS, _RESTARTS_SECONDS = 5, 60.0


def run(*, port: int | None, state_dir: Path | None, speed: float | None, token: str | None, browser: bool) -> None:
    """Run until a signal comes. Raises CliError."""
    if token is not None and (not token.strip() or any(c.isspace() for c in token)):
        raise CliError("--token must not be empty or contain spaces.")
    folder = folder_at(state_dir)
    folder.make()
    with folder.lock("up") as ours:
        if not ours:
            _already_up(folder)
            return
        folder.remove("run.json")
        os.environ.update({"AWS_EC2_METADATA_DISABLED": "true"})
        _forget_environment()
        _Up(folder, choose_ports(folder, port), speed, token, browser).run()


def _forget_environment() -> None:
    kept = clean_environment(dict(os.environ))
    os.environ.clear()
    os.environ.update(kept)


def _already_up(folder: StateFolder) -> None:
    """Say where the running one is; it may still be starting."""
    deadline = time.monotonic() + 60
    while (url := folder.service_url()) is None and time.monotonic() < deadline:
        time.sleep(0.1)
    if url is None or not wait_healthy(url, 30):
        raise CliError(f"Another `instantstart up` holds {folder.path} but does not answer. Stop it, then try again.")
    say(f"InstantStart is already up on {folder.path}: {url}")
    say(f"Log in: {login_url(folder, url)}")


def choose_ports(folder: StateFolder, wanted: int | None) -> Ports:
    """The folder's ports: those it had, else 3099 or the next free one, and two more. They stay the same ever after."""
    kept = folder.read("ports.json")
    service = wanted or kept.get("service")
    if service is None:
        service = DEFAULT_PORT if wanted is None and is_free(DEFAULT_PORT) else free_port()
        if wanted is None and service != DEFAULT_PORT:
            say(f"Port {DEFAULT_PORT} is taken; using {service}.")
    sandbox = kept.get("sandbox") or free_port()
    kube = kept.get("kube") or free_port()
    ports = Ports(int(service), int(sandbox), int(kube))
    folder.write("ports.json", {"service": ports.service, "sandbox": ports.sandbox, "kube": ports.kube})
    return ports


class _Up:
    """One run of `up`."""

    def __init__(
        self, folder: StateFolder, ports: Ports, speed: float | None, token: str | None, browser: bool
    ) -> None:
        self._folder, self._ports, self._browser = folder, ports, browser
        self._sandbox = SandboxProcess(folder, ports, speed)
        self._token = folder.admin_token(token)
        self._console = Console(highlight=False)
        self._url = f"http://127.0.0.1:{ports.service}"
        self._failure: str | None = None

    def run(self) -> None:
        """Start both, serve, stop both."""
        sock = bind("127.0.0.1", self._ports.service)
        try:
            with self._console.status("Starting the sandbox"):
                self._sandbox.start()
                app = _app(self._folder, self._ports, self._token, self._sandbox.url)
            asyncio.run(self._serve(app, sock))
        finally:
            sock.close()
            self._folder.remove("run.json")
            self._sandbox.stop()
        if self._failure:
            raise CliError(self._failure)
        say("Stopped. `instantstart up` goes on from here.")

    async def _serve(self, app: Any, sock: Any) -> None:
        from instantstart.main import StartError

        stop = asyncio.Event()
        with self._console.status("Waiting for the sandbox"):
            await self._sandbox.until_ready()
        watching = asyncio.create_task(self._watch(stop), name="watch sandbox")
        try:
            await host_app(app, sock, stop, self._ready)
        except StartError as error:
            raise CliError(str(error)) from error
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)

    def _write_run(self) -> None:
        service = {"url": self._url, "pid": os.getpid()}
        self._folder.write(
            "run.json", {"service": service, "sandbox": {"url": self._sandbox.url, "pid": self._sandbox.pid}}
        )

    async def _ready(self) -> None:
        self._write_run()
        await asyncio.to_thread(self._ensure_agent_token)
        login = await asyncio.to_thread(login_url, self._folder, self._url)
        how = "adopted a running sandbox" if self._sandbox.adopted else "sandbox started"
        self._console.print(
            f"[bold]InstantStart[/bold] on [yellow]the sandbox[/yellow] ({how}): no AWS account is touched.",
            soft_wrap=True,
        )
        say(f"Log in: {login}")
        say(f"State:  {self._folder.path}")
        say("Stop with Ctrl-C.")
        if self._browser:
            await asyncio.to_thread(webbrowser.open, login)

    def _ensure_agent_token(self) -> None:
        """A token of its own for the MCP bridge of this folder, so that an agent is not taken for a person."""
        if not self._folder.read("credentials.json").get("agent_token"):
            made = call(
                self._folder, "POST", "/tokens", {"name": "hypd-inst-agent", "kind": "agent", "role": "operator"}
            )
            self._folder.keep_credential("agent_token", made["token"])

    async def _watch(self, stop: asyncio.Event) -> None:
        """Restart the sandbox when it ends; give up when it keeps ending."""
        ended: list[float] = []
        while True:
            await self._sandbox.until_gone()
            now = time.monotonic()
            ended = [t for t in ended if now - t < _RESTARTS_SECONDS] + [now]
            if len(ended) > _RESTARTS:
                self._failure = f"The sandbox keeps ending; see {self._sandbox.log_path}."
                stop.set()
                return
            self._console.print("The sandbox ended; starting it again.")
            self._sandbox.start()
            try:
                await self._sandbox.until_ready()
            except CliError as error:
                self._failure = str(error)
                stop.set()
                return
            self._write_run()


def _app(folder: StateFolder, ports: Ports, token: str, sandbox_url: str) -> Any:
    """The service, told to follow the sandbox in everything."""
    from instantstart.faces import web_build
    from instantstart.main import create_app
    from instantstart.settings import load

    given = {
        "port": ports.service,
        "state_dir": folder.path,
        "region": REGION,
        "aws_endpoint_url": sandbox_url,
        "aws_access_key_id": ACCESS_KEY,
        "aws_secret_access_key": SECRET_KEY,
        "clock_url": f"{sandbox_url}/_sandbox/clock",
        "control_url": f"{sandbox_url}/_sandbox/",
        "chart_sources": str(folder.path / "sandbox" / "charts.json"),
        "notice": NOTICE,
        "admin_token": token,
        "log_level": "warning",
    }
    if fault := web_build.fault():
        say(f"Note: {fault}")
    return create_app(load(given))
