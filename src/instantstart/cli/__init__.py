"""The command line. Commands import what they need when they run, so that `--help` is quick.

It is the only place that knows of the sandbox.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from instantstart import __version__

app = typer.Typer(
    name="instantstart",
    help="Control plane for foundation-model work on AWS: EKS with SageMaker HyperPod.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
sandbox_app = typer.Typer(help="The sandbox: simulated AWS and Kubernetes on this machine.")
token_app = typer.Typer(help="Bearer tokens and login codes of a running service.", no_args_is_help=True)
app.add_typer(sandbox_app, name="sandbox")
app.add_typer(token_app, name="token")

StateDir = Annotated[
    Path | None,
    typer.Option("--state-dir", help="State folder.", envvar="INSTANTSTART_STATE_DIR", show_default="platform default"),
]


class CliError(Exception):
    """One clear line for the user; the command ends with exit code 1."""


def fail(text: str) -> NoReturn:
    """End the command with one line on standard error."""
    sys.stderr.write(f"instantstart: {text}\n")
    raise SystemExit(1)


def say(text: str = "") -> None:
    """One line on standard output, at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main() -> None:
    """Entry point of the program."""
    from instantstart.settings import SettingError
    from instantstart.state_folder import StateFolderError

    try:
        app()
    except (CliError, SettingError, StateFolderError) as error:
        fail(str(error))
    except KeyboardInterrupt:
        raise SystemExit(130) from None


def _version(value: bool) -> None:
    if value:
        say(__version__)
        raise typer.Exit


@app.callback()
def root(
    _version_: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and leave.")
    ] = False,
) -> None:
    """See each command's --help."""


@app.command()
def up(
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Port of the service.", show_default="3099")
    ] = None,
    state_dir: StateDir = None,
    speed: Annotated[
        float | None,
        typer.Option(min=0.01, max=100_000, help="How much faster the sandbox's clock runs.", show_default="60"),
    ] = None,
    token: Annotated[
        str | None, typer.Option(help="The admin's bearer token of this state folder from now on.")
    ] = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the login page.")] = True,
) -> None:
    """Run service and sandbox on this machine; no AWS account is touched."""
    from instantstart.cli.up import run

    run(port=port, state_dir=state_dir, speed=speed, token=token, browser=browser)


@app.command()
def serve(
    ctx: typer.Context,
    host: Annotated[str | None, typer.Option(help="Address to listen on.", show_default="127.0.0.1")] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="Port.", show_default="3099")] = None,
    state_dir: StateDir = None,
    database_url: Annotated[
        str | None, typer.Option(help="Database.", show_default="SQLite in the state folder")
    ] = None,
    region: Annotated[str | None, typer.Option(help="AWS region.", show_default="us-west-2")] = None,
    aws_endpoint_url: Annotated[str | None, typer.Option(help="Endpoint for every AWS API.")] = None,
) -> None:
    """Run the service on the real AWS account; every setting has an INSTANTSTART_ variable too."""
    from instantstart.cli.serve import run

    given: dict[str, Any] = {k: v for k, v in ctx.params.items() if v is not None}
    run(given)


@sandbox_app.callback(invoke_without_command=True)
def sandbox(
    ctx: typer.Context,
    state_dir: StateDir = None,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="Port of the AWS endpoint.")] = None,
    kube_port: Annotated[int | None, typer.Option(min=0, max=65535, help="Port of the Kubernetes endpoint.")] = None,
    speed: Annotated[float | None, typer.Option(min=0.01, max=100_000, help="How much faster its clock runs.")] = None,
    mode: Annotated[str | None, typer.Option(help="auto or explicit.")] = None,
) -> None:
    """Run the sandbox alone, in the foreground."""
    if ctx.invoked_subcommand is None:
        from instantstart.cli.sandbox import run

        run(state_dir=state_dir, port=port, kube_port=kube_port, speed=speed, mode=mode)


@sandbox_app.command("env")
def sandbox_env(state_dir: StateDir = None) -> None:
    """Print shell lines that make aws and kubectl talk to the sandbox: eval "$(instantstart sandbox env)"."""
    from instantstart.cli.sandbox import env

    env(state_dir)


@app.command()
def mcp(
    url: Annotated[str | None, typer.Option(help="Address of the service.", envvar="INSTANTSTART_URL")] = None,
    token: Annotated[str | None, typer.Option(help="Bearer token.", envvar="INSTANTSTART_TOKEN")] = None,
    state_dir: StateDir = None,
) -> None:
    """MCP over standard input and output, for clients that start a command."""
    from instantstart.cli.bridge import run

    run(url=url, token=token, state_dir=state_dir)


@app.command()
def doctor(
    state_dir: StateDir = None,
    aws: Annotated[bool, typer.Option("--aws", help="Also ask AWS who we are, as `serve` would.")] = False,
) -> None:
    """Check what this machine has, and say what to do about the rest."""
    from instantstart.cli.doctor import run

    run(state_dir=state_dir, aws=aws)


@token_app.command("create")
def token_create(
    name: Annotated[str, typer.Argument(help="Whose it is.")],
    kind: Annotated[str, typer.Option(help="agent or person.")] = "agent",
    role: Annotated[str, typer.Option(help="viewer, operator or admin (persons only).")] = "operator",
    days: Annotated[
        int | None, typer.Option(min=1, max=3650, help="Days until it expires.", show_default="never")
    ] = None,
    state_dir: StateDir = None,
) -> None:
    """Make a bearer token and print it, this once."""
    from instantstart.cli.token import create

    create(name, kind, role, days, state_dir)


@token_app.command("list")
def token_list(state_dir: StateDir = None) -> None:
    """List the bearer tokens."""
    from instantstart.cli.token import listing

    listing(state_dir)


@token_app.command("revoke")
def token_revoke(token_id: str, state_dir: StateDir = None) -> None:
    """Make a bearer token useless, at once."""
    from instantstart.cli.token import revoke

    revoke(token_id, state_dir)


@token_app.command("login-code")
def token_login_code(state_dir: StateDir = None) -> None:
    """Print a login address that works once, within 10 minutes."""
    from instantstart.cli.token import login_code

    login_code(state_dir)
