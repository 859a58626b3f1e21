"""`instantstart token …`: the REST routes of tokens, for the person at this machine."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from instantstart.cli import CliError, say
from instantstart.cli.local import call, folder_at, login_url


def create(name: str, kind: str, role: str, days: int | None, state_dir: Path | None) -> None:
    """Make a token and print its text."""
    body = {"name": name, "kind": kind, "role": role, "days": days}
    say(call(folder_at(state_dir), "POST", "/tokens", body)["token"])


def listing(state_dir: Path | None) -> None:
    """Print one line for each token."""
    for row in call(folder_at(state_dir), "GET", "/tokens"):
        expires = row["expires_at"] or "never expires"
        say(f"{row['id']}  {row['kind']:<6}  {row['role']:<8}  {expires}  {row['name']}")


def revoke(token_id: str, state_dir: Path | None) -> None:
    """Revoke a token."""
    call(folder_at(state_dir), "DELETE", f"/tokens/{quote(token_id, safe='')}")
    say(f"{token_id} is revoked.")


def login_code(state_dir: Path | None) -> None:
    """Print a login address."""
    folder = folder_at(state_dir)
    url = folder.service_url()
    if url is None:
        raise CliError(f"No service runs on {folder.path}. Start it with: instantstart up")
    say(login_url(folder, url))
