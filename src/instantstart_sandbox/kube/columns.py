"""Columns of Tables: definitions per resource from `data/columns.json` and from custom definitions, and their cells."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib.resources import files
from typing import Any

import orjson

from instantstart_sandbox.kube import jsonpath
from instantstart_sandbox.kube.ages import age
from instantstart_sandbox.kube.canonical import empty
from instantstart_sandbox.kube.catalog import Kind
from instantstart_sandbox.kube.rows import CELLS

Obj = dict[str, Any]
Cells = Callable[[Obj, float], list[Any]]
_NAME_TEXT = (
    "Name must be unique within a namespace. Is required when creating resources, although some resources may allow a "
    "client to request the generation of an appropriate name automatically. Name is primarily intended for creation "
    "idempotence and configuration definition. Cannot be updated. More info: "
    "https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names"
)
_CREATED_TEXT = (
    "CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed "
    "to be set in happens-before order across separate operations. Clients may not set this value. It is represented "
    "in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: "
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata"
)


def column(name: str, kind: str = "string", form: str = "", text: str = "", priority: int = 0) -> Obj:
    """One column definition."""
    return {"name": name, "type": kind, "format": form, "description": text, "priority": priority}


_PLAIN = [
    column("Name", form="name", text=_NAME_TEXT),
    column("Created At", "date", text=_CREATED_TEXT),
]


@lru_cache(maxsize=1)
def _known() -> dict[str, list[Obj]]:
    raw = files("instantstart_sandbox.kube").joinpath("data/columns.json").read_bytes()
    loaded: dict[str, list[Obj]] = orjson.loads(raw)
    return loaded


def of(kind: Kind) -> tuple[list[Obj], Cells]:
    """Column definitions and the function that makes a row's cells at a time (epoch seconds)."""
    if kind.custom is not None:
        return _custom(kind)
    cells = CELLS.get(kind.key)
    definitions = _known().get(kind.key)
    if cells is None or definitions is None:
        return _PLAIN, lambda obj, _now: [obj["metadata"]["name"], obj["metadata"].get("creationTimestamp")]
    return definitions, cells


def _custom(kind: Kind) -> tuple[list[Obj], Cells]:
    definitions = [column("Name", form="name", text=_NAME_TEXT)]
    listed = kind.custom.columns or [
        {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp", "description": _CREATED_TEXT}
    ]
    for item in listed:
        text = item.get("description") or f"Custom resource definition column (in JSONPath format): {item['jsonPath']}"
        definitions.append(column(item["name"], item["type"], item.get("format", ""), text, item.get("priority", 0)))

    def cells(obj: Obj, now: float) -> list[Any]:
        row: list[Any] = [obj["metadata"]["name"]]
        for item in listed:
            row.append(_cell(item, jsonpath.first(item["jsonPath"], obj), now))
        return row

    return definitions, cells


def _cell(item: Obj, value: Any, now: float) -> Any:
    kind = item["type"]
    if value is None:
        return None
    if kind == "date":
        return age(str(value), now) if isinstance(value, str) else None
    if kind == "integer":
        return int(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
    if kind == "number":
        return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None
    if kind == "boolean":
        return value if isinstance(value, bool) else None
    if isinstance(value, (dict, list)):
        return orjson.dumps(value).decode()
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def conditions(kind: Kind, obj: Obj) -> list[Obj]:
    """Marks of a row that let clients hide finished pods."""
    if kind.key != "pods":
        return []
    phase = (obj.get("status") or {}).get("phase")
    if phase == "Succeeded":
        text = "The pod has completed successfully."
    elif phase == "Failed":
        text = "The pod failed."
    else:
        return []
    return [{"type": "Completed", "status": "True", "reason": phase, "message": text}]


__all__ = ["conditions", "empty", "of"]
