"""Parameters as the request log shows them: without what the models mark sensitive, long texts cut."""

from __future__ import annotations

from typing import Any

from botocore.model import ListShape, MapShape, OperationModel, Shape, StructureShape

_HIDDEN = "***"
_LONG = 4000


def parameters(operation: OperationModel | None, params: dict[str, Any]) -> dict[str, Any]:
    """A copy that is fit to be kept."""
    shape = operation.input_shape if operation is not None else None
    return {k: _shown(shape.members.get(k) if shape else None, v) for k, v in params.items()}


def _shown(shape: Shape | None, value: Any) -> Any:
    if shape is not None and shape.metadata.get("sensitive"):
        return _HIDDEN
    if isinstance(value, dict):
        if isinstance(shape, StructureShape):
            return {k: _shown(shape.members.get(k), v) for k, v in value.items()}
        inner = shape.value if isinstance(shape, MapShape) else None
        return {k: _shown(inner, v) for k, v in value.items()}
    if isinstance(value, list):
        inner = shape.member if isinstance(shape, ListShape) else None
        return [_shown(inner, v) for v in value]
    if isinstance(value, bytes):
        return f"({len(value)} bytes)"
    if isinstance(value, str) and len(value) > _LONG:
        return value[:_LONG] + "..."
    return value
