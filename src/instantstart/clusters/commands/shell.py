"""Writes command lines from arguments: every value quoted, shell variables only where we put them. Pure."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

_SAFE = re.compile(r"^[A-Za-z0-9_./:=,+-]+$")
_VARIABLE = re.compile(r"@([A-Z_]+)@")
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@dataclass(frozen=True)
class Raw:
    """Shell text that goes in as it is: a substitution of ours, never anything that was given."""

    text: str


def var(name: str) -> str:
    """A place in a value where the shell variable `name` is put in."""
    return f"@{name}@"


def quote(text: str) -> str:
    """A word of the shell. Places of variables become double-quoted expansions between single-quoted text."""
    if _SAFE.match(text):
        return text
    quoted = "'" + text.replace("'", "'\\''") + "'"
    return re.sub(r"(?<!\\)''(?=\")|(?<=\")''(?!\\)", "", _VARIABLE.sub(lambda m: f"'\"${m[1]}\"'", quoted))


def dumps(value: Any) -> str:
    """JSON without spaces."""
    return json.dumps(value, separators=(",", ":"))


def aws(service: str, operation: str, **params: Any) -> str:
    """`aws <service> <operation>` with parameters by their API names; None is left out, objects become JSON."""
    words = ["aws", service, operation]
    for name, value in params.items():
        option = "-".join(_WORDS.split(name)).lower()
        if value is None:
            continue
        if isinstance(value, bool):
            words.append(f"--{option}" if value else f"--no-{option}")
        elif isinstance(value, Raw):
            words += [f"--{option}", value.text]
        elif isinstance(value, list) and all(isinstance(v, str) for v in value):
            words += [f"--{option}", *(quote(v) for v in value)]
        else:
            words += [f"--{option}", quote(value if isinstance(value, str) else _scalar(value))]
    return " ".join(words)


def assign(name: str, command: str) -> str:
    """`NAME=$(command)`."""
    return f"{name}=$({command})"


def until(command: str, wanted: str, seconds: int = 30) -> str:
    """A loop until a command prints the wanted word; HyperPod has no waiters."""
    return f'until [ "$({command})" = {quote(wanted)} ]; do sleep {seconds}; done'


def gone(command: str, seconds: int = 30) -> str:
    """A loop for as long as a command succeeds."""
    return f"while {command} >/dev/null 2>&1; do sleep {seconds}; done"


def here(command: str, objects: list[dict[str, Any]]) -> str:
    """A command that reads objects from a here-document, as a JSON list that kubectl takes."""
    body = objects[0] if len(objects) == 1 else {"apiVersion": "v1", "kind": "List", "items": objects}
    return f"{command} <<'EOF'\n{dumps(body)}\nEOF"


def _scalar(value: Any) -> str:
    return dumps(value) if isinstance(value, dict | list) else str(value)
