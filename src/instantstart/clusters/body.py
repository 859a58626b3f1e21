"""Reads a request's body without giving up at its first bad field, so that all of them are told in one answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from pydantic import ValidationError

from instantstart.clusters.schema import Body
from instantstart.core.problem import FieldError

B = TypeVar("B", bound=Body)


def tolerant(model: type[B]) -> Callable[[Any, Callable[[Any], B]], B]:
    """A wrap validator: a body with bad fields becomes a body without them, which says so in `faults`.

    What is no JSON object at all stays an error.
    """

    def read(value: Any, validate: Callable[[Any], B]) -> B:
        try:
            return validate(value)
        except ValidationError as error:
            if not isinstance(value, dict):
                raise
            faults = [_fault(e) for e in error.errors(include_url=False)]
            bad = {str(e["loc"][0]) for e in error.errors() if e["loc"]}
            partial = cast(B, model.model_construct(**_good(model, value, bad)))
            partial.note(faults)
            return partial

    return read


def _good(model: type[B], value: dict[str, Any], bad: set[str]) -> dict[str, Any]:
    """The fields that can be read, each by itself."""
    fields = {n: f for n, f in model.model_fields.items() if n not in bad}
    good: dict[str, Any] = {}
    for name, field in fields.items():
        if name in value:
            read = model.__pydantic_validator__.validate_assignment(model.model_construct(), name, value[name])
            good[name] = read.__dict__[name]
        else:
            good[name] = field.get_default(call_default_factory=True)
    return good


def _fault(error: Any) -> FieldError:
    pointer = "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in error["loc"])
    return FieldError(field=pointer, code=str(error["type"]), message=str(error["msg"]))
