"""Settings of a world that `/_sandbox/settings` shows and changes: how it behaves where AWS's behaviour is not settled."""

from __future__ import annotations

from typing import Any

from instantstart_sandbox import defaults
from instantstart_sandbox.control_fields import Fields
from instantstart_sandbox.world import World

UPDATE_MODE = "sagemaker.update_mode"
RATE_LIMITS = "rate_limits"
_NAMES = {"sagemaker_update_mode", "rate_limits", "quotas", "capacity"}


def view(world: World) -> dict[str, Any]:
    """Present values. Quotas by `<service>/<code>`, capacity by `<instance type>/<zone>`."""
    return {
        "sagemaker_update_mode": world.store.meta(UPDATE_MODE, "upsert"),
        "rate_limits": world.store.meta(RATE_LIMITS, True),
        "quotas": {k: q["Value"] for k, q in world.store.items(defaults.QUOTA)},
        "capacity": {k: c["total"] for k, c in world.store.items(defaults.CAPACITY)},
    }


def change(world: World, given: dict[str, Any]) -> None:
    """Set what is given; ControlError 400 names every bad field and nothing is changed."""
    fields = Fields(given, known=_NAMES)
    mode = fields.choice("sagemaker_update_mode", ("upsert", "replace"))
    rates = fields.flag("rate_limits")
    quotas = _numbers(fields, given, "quotas", {k for k, _ in world.store.items(defaults.QUOTA)})
    capacity = _numbers(fields, given, "capacity", None)
    fields.check()
    with world.store.transaction():
        if mode is not None:
            world.store.set_meta(UPDATE_MODE, mode)
        if rates is not None:
            world.store.set_meta(RATE_LIMITS, rates)
        for key, value in quotas.items():
            world.store.put(defaults.QUOTA, key, {**(world.store.get(defaults.QUOTA, key) or {}), "Value": value})
        for key, value in capacity.items():
            world.store.put(defaults.CAPACITY, key, {"total": int(value)})


def _numbers(fields: Fields, given: dict[str, Any], name: str, known: set[str] | None) -> dict[str, float]:
    values = given.get(name) or {}
    if not isinstance(values, dict):
        fields.bad(name, "wrong_type", f"{name} must be a map of names to numbers.")
        return {}
    for key, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
            fields.bad(f"{name}/{key}", "out_of_range", f"{key} must be a number, 0 or more.")
        elif (known is not None and key not in known) or (known is None and "/" not in key):
            fields.bad(f"{name}/{key}", "unknown_value", f"There is no {name} entry {key!r}.")
    return values
