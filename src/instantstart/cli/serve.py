"""`instantstart serve`: the service alone, on the real account. It never falls back to the sandbox."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from instantstart.cli import CliError, say
from instantstart.cli.hosting import bind, host_app
from instantstart.cli.local import login_url
from instantstart.faces import web_build
from instantstart.settings import Settings, load
from instantstart.state_folder import StateFolder


def run(given: Mapping[str, Any]) -> None:
    """Serve until a signal comes. Raises CliError."""
    settings = load(given, os.environ)
    folder = StateFolder(settings.state_dir)
    folder.make()
    sock = bind(settings.host, settings.port)
    settings = replace(
        settings, port=sock.getsockname()[1], admin_token=folder.admin_token(settings.admin_token or None)
    )
    if fault := web_build.fault():
        say(f"Note: {fault}")
    try:
        asyncio.run(_serve(settings, folder, sock))
    finally:
        sock.close()


async def _serve(settings: Settings, folder: StateFolder, sock: Any) -> None:
    shown_host = "127.0.0.1" if settings.host in ("0.0.0.0", "::", "localhost") else settings.host  # noqa: S104
    url = f"http://{f'[{shown_host}]' if ':' in shown_host else shown_host}:{settings.port}"

    async def ready() -> None:
        folder.write("run.json", {"service": {"url": url, "pid": os.getpid()}})
        login = await asyncio.to_thread(login_url, folder, url)
        where = settings.aws_endpoint_url or f"AWS, region {settings.region}"
        say(f"InstantStart serves {where}.")
        say(f"Log in: {login}")

    from instantstart.main import StartError, create_app

    try:
        await host_app(create_app(settings), sock, asyncio.Event(), ready)
    except StartError as error:
        raise CliError(str(error)) from error
