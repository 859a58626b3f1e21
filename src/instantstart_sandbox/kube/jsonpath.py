"""The subset of JSONPath that custom definitions use: fields, quoted names, indexes, wildcards and equality filters."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

_STEP = re.compile(
    r"\.(?P<field>[A-Za-z_$][\w$-]*|\*)|\[(?P<index>-?\d+|\*)\]|\['(?P<name>[^']*)'\]|\[\"(?P<quoted>[^\"]*)\"\]"
    r"|\[\?\(@\.(?P<key>[\w.-]+)\s*==\s*(?P<value>\"[^\"]*\"|'[^']*'|[^)]+)\)\]"
)


@lru_cache(maxsize=1024)
def _steps(path: str) -> tuple[tuple[str, str, str], ...]:
    found = []
    text = path.replace("\\.", "\0")
    text = re.sub(r"\.([\w/-]*\0[\w/\0-]*)", lambda m: "['" + m.group(1).replace("\0", ".") + "']", text)
    for match in _STEP.finditer(text):
        parts = match.groupdict()
        if parts["key"]:
            found.append(("filter", parts["key"], parts["value"].strip("\"' ")))
        elif parts["index"]:
            found.append(("index", parts["index"], ""))
        else:
            found.append(("field", parts["field"] or parts["name"] or parts["quoted"] or "", ""))
    return tuple(found)


def every(path: str, obj: Any) -> list[Any]:
    """All values at a path."""
    values = [obj]
    for kind, name, wanted in _steps(path):
        following: list[Any] = []
        for value in values:
            if name == "*":
                following.extend(
                    value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
                )
            elif kind == "field" and isinstance(value, dict) and name in value:
                following.append(value[name])
            elif kind == "index" and isinstance(value, list) and -len(value) <= int(name) < len(value):
                following.append(value[int(name)])
            elif kind == "filter" and isinstance(value, list):
                following.extend(v for v in value if isinstance(v, dict) and str(first("." + name, v)) == wanted)
        values = following
    return values


def first(path: str, obj: Any) -> Any:
    """The first value at a path, None when there is none."""
    found = every(path, obj)
    return found[0] if found else None
