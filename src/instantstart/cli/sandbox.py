"""`instantstart sandbox`: the sandbox alone, and the shell lines that lead aws and kubectl to it."""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
from pathlib import Path
from typing import Any

from instantstart.cli import CliError, say
from instantstart.cli.local import folder_at
from instantstart.cli.sandbox_process import clean_environment
from instantstart.cli.up import ACCESS_KEY, REGION, SECRET_KEY, choose_ports
from instantstart.core.problem import ProblemError
from instantstart.state_folder import StateFolder

_MISLEADING = (
    "AWS_PROFILE",
    "AWS_DEFAULT_PROFILE",
    "AWS_SESSION_TOKEN",
    "AWS_ROLE_ARN",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CA_BUNDLE",
    "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS",
)


def run(
    *, state_dir: Path | None, port: int | None, kube_port: int | None, speed: float | None, mode: str | None
) -> None:
    """Become the sandbox process of a state folder."""
    if mode not in (None, "auto", "explicit"):
        raise CliError(f"--mode must be auto or explicit, not {mode!r}.")
    folder = folder_at(state_dir)
    home = StateFolder(folder.path / "sandbox")
    home.make()
    ports = choose_ports(folder, None)
    command = [sys.executable, "-m", "instantstart_sandbox", "--state-dir", str(home.path)]
    command += ["--port", str(port or ports.sandbox), "--kube-port", str(kube_port or ports.kube)]
    command += ["--speed", str(speed)] if speed is not None else []
    command += ["--mode", mode] if mode is not None else []
    os.execve(sys.executable, command, clean_environment(dict(os.environ)))  # noqa: S606 - an argument list; no shell is wanted


def env(state_dir: Path | None) -> None:
    """Print the shell lines; writes the folder's kubeconfig for the EKS clusters there are now."""
    folder = folder_at(state_dir)
    url = folder.read("sandbox/sandbox.json").get("url")
    if not url:
        raise CliError(f"No sandbox runs on {folder.path}. Start it with: instantstart up")
    kubeconfig = folder.path / "kubeconfig"
    try:
        clusters = asyncio.run(_clusters(url))
    except ProblemError as error:
        raise CliError(f"The sandbox at {url} does not answer. Start it with: instantstart up") from error
    folder.write("kubeconfig", _kubeconfig(clusters, url))
    values = {
        "AWS_ENDPOINT_URL": url,
        "AWS_ACCESS_KEY_ID": ACCESS_KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
        "AWS_REGION": REGION,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_CONFIG_FILE": "/dev/null",
        "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_PAGER": "",
        "KUBECONFIG": str(kubeconfig),
    }
    stale = [name for name in os.environ if name.startswith("AWS_ENDPOINT_URL_")]
    say(f"unset {' '.join([*_MISLEADING, *sorted(stale)])}")
    for name, value in values.items():
        say(f"export {name}={shlex.quote(value)}")


async def _clusters(url: str) -> list[dict[str, Any]]:
    from instantstart.aws.clients import AwsClients, StaticCredentials

    aws = AwsClients(region=REGION, endpoint_url=url, credentials=StaticCredentials(ACCESS_KEY, SECRET_KEY))
    try:
        names = await aws.pages("eks", "list_clusters", "clusters")
        found = [(await aws.call("eks", "describe_cluster", name=name))["cluster"] for name in names]
    finally:
        await aws.close()
    return [c for c in found if c.get("endpoint") and c.get("certificateAuthority", {}).get("data")]


def _kubeconfig(clusters: list[dict[str, Any]], url: str) -> dict[str, Any]:
    """A kubeconfig (JSON is YAML) with one context for each cluster; the last one made is the current one."""
    ordered = sorted(clusters, key=lambda c: str(c.get("createdAt")))
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "preferences": {},
        "clusters": [
            {
                "name": c["arn"],
                "cluster": {"server": c["endpoint"], "certificate-authority-data": c["certificateAuthority"]["data"]},
            }
            for c in ordered
        ],
        "users": [{"name": c["arn"], "user": {"exec": _login(c["name"], url)}} for c in ordered],
        "contexts": [{"name": c["arn"], "context": {"cluster": c["arn"], "user": c["arn"]}} for c in ordered],
        "current-context": ordered[-1]["arn"] if ordered else "",
    }


def _login(name: str, url: str) -> dict[str, Any]:
    values = {"AWS_ENDPOINT_URL": url, "AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET_KEY}
    beside = Path(sys.executable).parent / "aws"
    return {
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "command": str(beside) if beside.is_file() else "aws",
        "args": ["--region", REGION, "eks", "get-token", "--cluster-name", name, "--output", "json"],
        "env": [{"name": k, "value": v} for k, v in values.items()],
        "interactiveMode": "Never",
        "provideClusterInfo": False,
    }
