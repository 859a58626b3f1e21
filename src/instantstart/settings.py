"""Every setting of the service in one typed table: name, type, default, help, environment variable.

Only `main.py` reads the values. `up` hands them over as arguments; `serve` reads the environment and its options.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, get_args

LogLevel = Literal["debug", "info", "warning", "error"]
ENV_PREFIX = "INSTANTSTART_"


class SettingError(Exception):
    """A setting has a value that cannot be used; the text names it and says what is expected."""


def default_state_dir() -> Path:
    """Where this platform keeps a user's state: `~/.local/state/instantstart` on Linux."""
    if platform.system() == "Darwin":
        return Path.home() / "Library" / "Application Support" / "instantstart"
    base = os.environ.get("XDG_STATE_HOME")
    return (Path(base) if base else Path.home() / ".local" / "state") / "instantstart"


def _setting(help_text: str, default: Any, *, secret: bool = False) -> Any:
    metadata = {"help": help_text, "secret": secret}
    if callable(default):
        return field(default_factory=default, metadata=metadata)
    return field(default=default, metadata=metadata)


@dataclass(frozen=True)
class Settings:
    """The values, checked. Build with `load`."""

    host: str = _setting("Address to listen on.", "127.0.0.1")
    port: int = _setting("Port to listen on.", 3099)
    state_dir: Path = _setting("Folder with the database and everything else that is kept.", default_state_dir)  # noqa: RUF009
    database_url: str = _setting(
        "Database; empty means SQLite in the state folder. PostgreSQL: postgresql+psycopg://…", "", secret=True
    )
    region: str = _setting("AWS region that everything is created in.", "us-west-2")
    aws_endpoint_url: str = _setting("Endpoint for every AWS API; empty means AWS itself.", "")
    aws_access_key_id: str = _setting("Access key; empty means what boto3 finds (role, profile).", "", secret=True)
    aws_secret_access_key: str = _setting("Secret of the access key.", "", secret=True)
    clock_url: str = _setting("Clock to follow instead of the wall clock.", "")
    notice: str = _setting("Text of a banner on every page.", "")
    control_url: str = _setting("Control interface of the endpoint, passed on for admins under /api/v1/control/.", "")
    allowed_hosts: tuple[str, ...] = _setting(
        "Names, comma-separated, that may stand in the Host header besides the loopback names.", ()
    )
    bucket: str = _setting("Bucket of new clusters; empty means one of their own.", "")
    service_role_arn: str = _setting("Role that gets access to new EKS clusters; empty means the caller's role.", "")
    helm_path: str = _setting("The helm program; empty means the one that comes along.", "")
    chart_sources: str = _setting("JSON file that overrides where Helm charts come from.", "")
    allow_unverified_charts: bool = _setting("Install charts that are pinned by neither digest nor tree.", False)
    admin_token: str = _setting("Bearer token of the admin; empty leaves the known one as it is.", "", secret=True)
    log_level: LogLevel = _setting("How much is logged.", "info")  # noqa: RUF009

    @property
    def database(self) -> str:
        """URL of the database in use."""
        return self.database_url or f"sqlite+aiosqlite:///{self.state_dir / 'instantstart.sqlite'}"


@dataclass(frozen=True)
class SettingRow:
    """One row of the table, as docs and `--help` show it."""

    name: str
    env: str
    default: str
    help: str
    secret: bool


def table() -> list[SettingRow]:
    """Every setting."""
    rows = []
    for f in fields(Settings):
        default = "" if f.name == "state_dir" else getattr(Settings(), f.name)
        shown = ",".join(default) if isinstance(default, tuple) else str(default)
        rows.append(SettingRow(f.name, ENV_PREFIX + f.name.upper(), shown, f.metadata["help"], f.metadata["secret"]))
    return rows


def load(given: Mapping[str, Any], env: Mapping[str, str] | None = None) -> Settings:
    """Settings from given values (None means not given), else from the environment, else the defaults.

    Raises SettingError naming the first setting whose value cannot be used, and on unknown names in `given`.
    """
    env = env or {}
    known = {f.name for f in fields(Settings)}
    if unknown := sorted(set(given) - known):
        raise SettingError(f"unknown setting {unknown[0]}")
    values: dict[str, Any] = {}
    for name in known:
        raw = given.get(name)
        if raw is None:
            raw = env.get(ENV_PREFIX + name.upper())
        if raw is not None:
            values[name] = _parse(name, raw)
    return _checked(Settings(**values))


def _parse(name: str, raw: Any) -> Any:
    if name == "port":
        return _port(raw)
    if name == "state_dir":
        return Path(str(raw)).expanduser().absolute()
    if name == "allowed_hosts":
        parts = raw.split(",") if isinstance(raw, str) else raw
        return tuple(p.strip().lower() for p in parts if p.strip())
    if name == "allow_unverified_charts":
        return _switch(name, raw)
    return str(raw).strip()


def _port(raw: Any) -> int:
    text = str(raw).strip()
    if not text.isdigit() or not 0 <= int(text) <= 65535:
        raise SettingError(f"port must be a number from 0 to 65535, not {text!r}")
    return int(text)


def _switch(name: str, raw: Any) -> bool:
    if isinstance(raw, bool):
        return raw
    words = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False, "": False}
    text = str(raw).strip().lower()
    if text not in words:
        raise SettingError(f"{name} must be true or false, not {text!r}")
    return words[text]


def _checked(settings: Settings) -> Settings:
    if settings.log_level not in get_args(LogLevel):
        raise SettingError(f"log_level must be one of {', '.join(get_args(LogLevel))}, not {settings.log_level!r}")
    for name in ("aws_endpoint_url", "clock_url", "control_url"):
        value = getattr(settings, name)
        if value and not value.startswith(("http://", "https://")):
            raise SettingError(f"{name} must begin with http:// or https://, not {value!r}")
    if bool(settings.aws_access_key_id) != bool(settings.aws_secret_access_key):
        raise SettingError("aws_access_key_id and aws_secret_access_key belong together: give both or neither")
    return settings
