"""The command line without a service: help, one-line errors, the state folder, ports, the cleaned environment."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from instantstart import __version__
from instantstart.cli.sandbox_process import clean_environment
from instantstart.cli.up import choose_ports
from instantstart.state_folder import StateFolder, StateFolderError


def run(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "instantstart.cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env={**os.environ, **env}, check=False)


def test_help_loads_nothing_heavy() -> None:
    heavy = ("fastapi", "sqlalchemy", "boto3", "mcp", "httpx2")
    code = f"import sys, instantstart.cli; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    text = run("--help").stdout
    for command in ("up", "serve", "sandbox", "mcp", "token", "doctor"):
        assert command in text
    assert run("--version").stdout.strip() == __version__


@pytest.mark.parametrize(
    "arguments",
    [
        ("token", "list"),
        ("token", "create", "x"),
        ("token", "login-code"),
        ("sandbox", "env"),
        ("mcp",),
        ("up", "--token", "a b"),
        ("serve", "--port", "0", "--aws-endpoint-url", "ftp://x"),
    ],
)
def test_errors_are_one_clear_line(arguments: tuple[str, ...], tmp_path: Path) -> None:
    done = run(*arguments, "--state-dir", str(tmp_path))
    assert done.returncode == 1
    assert done.stderr.startswith("instantstart: ")
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    assert "Traceback" not in done.stderr


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StateFolderError, match="--state-dir"):
        StateFolder(tmp_path / "file" / "folder").make()


def test_one_process_holds_a_lock(tmp_path: Path) -> None:
    folder = StateFolder(tmp_path)
    with folder.lock("up") as first, folder.lock("up") as second:
        assert (first, second) == (True, False)
    with folder.lock("up") as again:
        assert again


def test_files_are_replaced_and_private(tmp_path: Path) -> None:
    folder = StateFolder(tmp_path)
    folder.write("run.json", {"a": 1})
    folder.write("run.json", {"a": 2})
    assert json.loads((tmp_path / "run.json").read_text()) == {"a": 2}
    assert (tmp_path / "run.json").stat().st_mode & 0o777 == 0o600
    assert [p.name for p in tmp_path.iterdir()] == ["run.json"]
    (tmp_path / "run.json").write_text("{broken")
    assert folder.read("run.json") == {}


def test_the_admin_token_stays_until_another_is_given(tmp_path: Path) -> None:
    folder = StateFolder(tmp_path)
    first = folder.admin_token()
    assert folder.admin_token() == first
    assert folder.admin_token("mine") == "mine"
    assert folder.admin_token() == "mine"


def test_ports_stay_the_same(tmp_path: Path) -> None:
    folder = StateFolder(tmp_path)
    first = choose_ports(folder, 0)
    assert len({first.service, first.sandbox, first.kube}) == 3
    assert choose_ports(folder, None) == first
    assert choose_ports(folder, 4321).service == 4321
    assert choose_ports(folder, None).service == 4321


def test_a_taken_default_port_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        monkeypatch.setattr("instantstart.cli.up.DEFAULT_PORT", taken.getsockname()[1])
        assert choose_ports(StateFolder(tmp_path), None).service != taken.getsockname()[1]


def test_nothing_that_leads_away_survives() -> None:
    hostile: dict[str, Any] = {
        "AWS_PROFILE": "prod",
        "AWS_ENDPOINT_URL": "http://198.51.100.1",
        "AWS_ENDPOINT_URL_STS": "http://198.51.100.1",
        "AWS_CONFIG_FILE": "/x",
        "AWS_CA_BUNDLE": "/x",
        "AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://198.51.100.1",
        "HTTPS_PROXY": "http://198.51.100.1",
        "KUBECONFIG": "/x",
        "PYTHONPATH": "/x",
        "PATH": "/bin",
        "HOME": "/root",
    }
    assert clean_environment(hostile) == {"PATH": "/bin", "HOME": "/root"}
