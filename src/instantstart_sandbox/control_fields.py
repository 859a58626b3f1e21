"""Fields of control requests: every bad one is named, in one answer."""

from __future__ import annotations

import math
from typing import Any

from instantstart_sandbox.world.faults import KINDS


class ControlError(Exception):
    """A refused control request."""

    def __init__(self, status: int, code: str, detail: str, errors: list[dict[str, str]] | None = None) -> None:
        super().__init__(detail)
        self.status, self.code, self.detail, self.errors = status, code, detail, errors or []

    def view(self) -> dict[str, Any]:
        """The problem JSON."""
        found = {"type": "about:blank", "status": self.status, "code": self.code, "detail": self.detail}
        return {**found, "errors": self.errors}


class Fields:
    """Reads fields one by one and collects what is wrong; `check()` raises ControlError 400 when anything is."""

    def __init__(self, given: dict[str, Any], known: set[str]) -> None:
        self._given = given
        self.errors: list[dict[str, str]] = []
        for name in sorted(set(given) - known):
            self.bad(name, "unknown_field", f"There is no field {name!r}; known are {', '.join(sorted(known))}.")

    def bad(self, name: str, code: str, message: str) -> None:
        """Note that a field is wrong."""
        self.errors.append({"field": f"/{name}", "code": code, "message": message})

    def number(self, name: str, default: float, *, least: float, most: float) -> float:
        """A finite number within limits."""
        value = self._given.get(name)
        if value is None:
            return default
        try:
            found = float(value) if not isinstance(value, bool) else math.nan
        except (TypeError, ValueError):
            found = math.nan
        if not math.isfinite(found) or not least <= found <= most:
            self.bad(name, "out_of_range", f"{name} must be a number from {least:g} to {most:g}.")
            return default
        return found

    def integer(self, name: str, default: int, *, least: int, most: int) -> int:
        """A whole number within limits."""
        value = self._given.get(name)
        if value is None:
            return default
        text = str(value)
        if isinstance(value, bool) or not text.lstrip("-").isdigit() or not least <= int(text) <= most:
            self.bad(name, "out_of_range", f"{name} must be a whole number from {least} to {most}.")
            return default
        return int(text)

    def choice(self, name: str, choices: tuple[str, ...]) -> str | None:
        """One of a few words, or None when absent."""
        value = self._given.get(name)
        if value is not None and value not in choices:
            self.bad(name, "unknown_value", f"{name} must be one of {', '.join(choices)}.")
            return None
        return value

    def text(self, name: str) -> str | None:
        """A text, or None when absent."""
        value = self._given.get(name)
        if value is not None and not isinstance(value, str):
            self.bad(name, "wrong_type", f"{name} must be a text.")
            return None
        return value

    def flag(self, name: str) -> bool | None:
        """true or false, or None when absent."""
        value = self._given.get(name)
        if value is not None and not isinstance(value, bool):
            self.bad(name, "wrong_type", f"{name} must be true or false.")
            return None
        return value

    def check(self) -> None:
        """Raise ControlError when anything was wrong."""
        if self.errors:
            detail = " ".join(e["message"] for e in self.errors)
            raise ControlError(400, "validation", detail, self.errors)


def fault_fields(given: dict[str, Any]) -> dict[str, Any]:
    """A checked fault {kind, service, operation, match, count, probability, delay_seconds}."""
    names = {"kind", "service", "operation", "match", "count", "probability", "delay_seconds"}
    fields = Fields(given, known=names)
    if given.get("kind") is None:
        fields.bad("kind", "required", f"kind is missing; it is one of {', '.join(sorted(KINDS))}.")
    fields.choice("kind", tuple(sorted(KINDS)))
    for name in ("service", "operation", "match"):
        fields.text(name)
    fields.integer("count", 0, least=1, most=1_000_000)
    fields.number("probability", 0.0, least=0.0, most=1.0)
    fields.number("delay_seconds", 0.0, least=0.0, most=86400.0 * 7)
    fields.check()
    return {k: v for k, v in given.items() if v is not None}
