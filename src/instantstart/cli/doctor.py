"""`instantstart doctor`: one line for each thing that has to be right, and what to do where it is not."""

from __future__ import annotations

import asyncio
import os
import platform
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from instantstart.cli import CliError, say
from instantstart.cli.hosting import is_free
from instantstart.cli.local import folder_at, is_healthy
from instantstart.core.problem import ProblemError
from instantstart.faces import web_build
from instantstart.settings import Settings, load
from instantstart.state_folder import StateFolder, StateFolderError

_OLDEST = (3, 11)


@dataclass(frozen=True)
class Check:
    """One line: what was looked at, whether it is right, what was found or has to be done."""

    name: str
    good: bool
    text: str


def run(*, state_dir: Path | None, aws: bool) -> None:
    """Print every check. Raises CliError when one of them is not right."""
    settings = load({"state_dir": state_dir}, os.environ)
    checks = list(_checks(folder_at(settings.state_dir), settings))
    if aws:
        checks.append(asyncio.run(_aws(settings)))
    for check in checks:
        say(f"{'ok  ' if check.good else 'FIX '} {check.name:<13} {check.text}")
    if bad := [c.name for c in checks if not c.good]:
        raise CliError(f"{len(bad)} of {len(checks)} checks need something: {', '.join(bad)}")


def _checks(folder: StateFolder, settings: Settings) -> Iterator[Check]:
    version = platform.python_version()
    fits = sys.version_info >= _OLDEST
    yield Check("Python", fits, version if fits else f"{version} is too old: use Python 3.11 or newer.")
    fault = web_build.fault()
    yield Check("web UI", fault is None, fault or "built")
    yield _folder(folder)
    yield _helm(settings)
    yield from _ports(folder)


def _helm(settings: Settings) -> Check:
    from instantstart.kube.helm_binary import find_helm

    try:
        return Check("helm", True, str(find_helm(settings.helm_path or None, settings.state_dir / "helm")))
    except ProblemError as error:
        return Check("helm", False, f"{error.problem.detail} {error.problem.remedy or ''}".strip())
    except OSError as error:
        return Check("helm", False, f"Cannot be unpacked into {settings.state_dir / 'helm'}: {error.strerror}.")


def _folder(folder: StateFolder) -> Check:
    try:
        folder.make()
    except StateFolderError as error:
        return Check("state folder", False, str(error))
    return Check("state folder", True, str(folder.path))


def _ports(folder: StateFolder) -> Iterator[Check]:
    url = folder.service_url()
    if url and is_healthy(url):
        yield Check("service", True, f"runs at {url}")
        return
    ports = folder.read("ports.json") or {"service": 3099}
    for name, port in ports.items():
        free = is_free(int(port))
        text = f"{port} is free" if free else f"{port} is taken: stop what uses it, or start with --port."
        yield Check(f"{name} port", free, text)


async def _aws(settings: Settings) -> Check:
    from instantstart.aws.clients import AwsClients, StaticCredentials

    credentials = None
    if settings.aws_access_key_id:
        credentials = StaticCredentials(settings.aws_access_key_id, settings.aws_secret_access_key)
    clients = AwsClients(
        region=settings.region, endpoint_url=settings.aws_endpoint_url or None, credentials=credentials
    )
    try:
        account = await clients.account()
    except ProblemError as error:
        return Check("AWS", False, f"{error.problem.detail} {error.problem.remedy or ''}".strip())
    finally:
        await clients.close()
    return Check("AWS", True, f"account {account.account_id}, region {account.region}")
