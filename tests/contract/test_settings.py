"""The table of settings: names, environment, defaults, errors; nobody but main reads the values."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from instantstart.settings import SettingError, load, table

SRC = Path(__file__).parents[2] / "src" / "instantstart"


def test_the_table() -> None:
    rows = {row.name: row for row in table()}
    assert rows["port"].env == "INSTANTSTART_PORT"
    assert rows["port"].default == "3099"
    assert rows["host"].default == "127.0.0.1"
    assert all(row.help.endswith(".") or "…" in row.help for row in rows.values())
    assert {row.name for row in rows.values() if row.secret} == {
        "database_url",
        "aws_access_key_id",
        "aws_secret_access_key",
        "admin_token",
    }


def test_given_beats_environment_beats_default() -> None:
    env = {"INSTANTSTART_PORT": "1", "INSTANTSTART_REGION": "eu-west-1", "AWS_REGION": "ap-south-1"}
    settings = load({"port": 2, "region": None}, env)
    assert (settings.port, settings.region, settings.host) == (2, "eu-west-1", "127.0.0.1")
    assert load({}).region == "us-west-2"


def test_parsing() -> None:
    settings = load({"allowed_hosts": "A.example, b.example,", "allow_unverified_charts": "yes", "state_dir": "~/x"})
    assert settings.allowed_hosts == ("a.example", "b.example")
    assert settings.allow_unverified_charts is True
    assert settings.state_dir == Path.home() / "x"
    assert settings.database == f"sqlite+aiosqlite:///{Path.home() / 'x' / 'instantstart.sqlite'}"


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"port": "x"}, "port"),
        ({"port": 65536}, "port"),
        ({"log_level": "loud"}, "log_level"),
        ({"clock_url": "file:///x"}, "clock_url"),
        ({"aws_access_key_id": "x"}, "aws_secret_access_key"),
        ({"allow_unverified_charts": "maybe"}, "allow_unverified_charts"),
        ({"nonsense": 1}, "nonsense"),
    ],
)
def test_bad_values_are_named(given: dict[str, object], named: str) -> None:
    with pytest.raises(SettingError, match=named):
        load(given)


def test_only_main_and_the_command_line_import_settings() -> None:
    readers = set()
    for path in SRC.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module == "instantstart.settings":
                readers.add(str(path.relative_to(SRC)).split("/", maxsplit=1)[0])
    assert readers == {"main.py", "cli"}
