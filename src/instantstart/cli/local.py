"""How commands reach the service that runs on a state folder: its address, its health, its REST API as the admin."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import httpx2

from instantstart.cli import CliError
from instantstart.settings import default_state_dir
from instantstart.state_folder import StateFolder


def folder_at(state_dir: Path | None) -> StateFolder:
    """The state folder that a command means."""
    return StateFolder(state_dir or default_state_dir())


def is_healthy(url: str, timeout: float = 2.0) -> bool:
    """Whether `/healthz` at `url` answers 200."""
    try:
        return httpx2.get(f"{url}/healthz", timeout=timeout, trust_env=False).status_code == 200
    except httpx2.HTTPError:
        return False


def wait_healthy(url: str, seconds: float) -> bool:
    """Wait until it is healthy; False when it is not within `seconds`."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if is_healthy(url):
            return True
        time.sleep(0.1)
    return False


def call(folder: StateFolder, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
    """One REST call as the admin of this state folder; the JSON answer. Raises CliError."""
    url, token = folder.service_url(), folder.read("credentials.json").get("admin_token")
    if not url or not token:
        raise CliError(f"No service runs on {folder.path}. Start it with: instantstart up (or serve)")
    headers = {"authorization": f"Bearer {token}"}
    try:
        answer = httpx2.request(method, f"{url}/api/v1{path}", json=body, headers=headers, timeout=30, trust_env=False)
    except httpx2.HTTPError as error:
        raise CliError(f"The service at {url} does not answer ({error}). Start it with: instantstart up") from error
    if answer.status_code >= 400:
        raise CliError(_words(answer))
    return answer.json() if answer.content else None


def _words(answer: httpx2.Response) -> str:
    try:
        problem = answer.json()
    except ValueError:
        return f"The service answered {answer.status_code}."
    parts = [problem.get("detail") or problem.get("title") or f"The service answered {answer.status_code}."]
    parts += [f"{e['field']}: {e['message']}" for e in problem.get("errors", [])]
    if problem.get("remedy"):
        parts.append(problem["remedy"])
    return " ".join(parts)


def login_url(folder: StateFolder, url: str) -> str:
    """An address that logs the admin in once, within 10 minutes."""
    return f"{url}/#login={call(folder, 'POST', '/login-codes')['code']}"
