"""The state folder on disk: who owns it, where its processes listen, the secrets that local commands use.

Files: `run.json` (what runs now), `ports.json` (stays the same for ever), `credentials.json` (mode 0600), lock files.
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


class StateFolderError(Exception):
    """The folder cannot be used; the text says why and what to do."""


class StateFolder:
    """One state folder; made, with mode 0700, if it is absent."""

    def __init__(self, path: Path) -> None:
        self.path = path.expanduser().absolute()

    def make(self) -> None:
        """Make the folder. Raises StateFolderError when that is impossible."""
        try:
            self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise StateFolderError(
                f"Cannot make the state folder {self.path}: {error.strerror}. Choose another with --state-dir."
            ) from error
        if not os.access(self.path, os.W_OK | os.X_OK):
            raise StateFolderError(f"The state folder {self.path} is not writable. Choose another with --state-dir.")

    @contextmanager
    def lock(self, name: str) -> Iterator[bool]:
        """Hold the folder's lock `name` while the block runs; yields False when another process holds it."""
        handle = os.open(self.path / f"{name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
                return
            yield True
        finally:
            os.close(handle)

    def read(self, name: str) -> dict[str, Any]:
        """A JSON object in the folder; {} when it is absent or broken."""
        try:
            found = json.loads((self.path / name).read_text())
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def write(self, name: str, value: dict[str, Any]) -> None:
        """Replace a JSON object in the folder, atomically; readable by this user only."""
        temporary = self.path / f".{name}.{os.getpid()}"
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w") as file:
            file.write(json.dumps(value, indent=1) + "\n")
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(self.path / name)

    def remove(self, name: str) -> None:
        """Remove a file of the folder, if it is there."""
        (self.path / name).unlink(missing_ok=True)

    def admin_token(self, given: str | None = None) -> str:
        """The admin's bearer token: `given` from now on, else the kept one, else a new one. Kept for local commands."""
        kept = self.read("credentials.json")
        token = given or kept.get("admin_token") or f"ist_{secrets.token_urlsafe(32)}"
        if kept.get("admin_token") != token:
            self.write("credentials.json", {**kept, "admin_token": token})
        return token

    def keep_credential(self, name: str, token: str) -> None:
        """Keep a token for local commands."""
        self.write("credentials.json", {**self.read("credentials.json"), name: token})

    def service_url(self) -> str | None:
        """Address of the service that runs on this folder, as it said itself."""
        url = self.read("run.json").get("service", {}).get("url")
        return str(url) if url else None
