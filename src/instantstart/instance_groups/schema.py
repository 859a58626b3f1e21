"""Views of instance groups."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

CapacityType = Literal["on_demand", "spot", "training_plan"]


class GroupView(BaseModel):
    """One instance group."""

    name: str
    status: str = Field(description="HyperPod's own word.")
    instance_type: str
    current: int
    target: int
    capacity_type: CapacityType
    interface_mode: str | None = Field(default=None, description="efa or efa-only; null: HyperPod's default.")
    training_plan: str | None = Field(default=None, description="ARN.")
    subnet_id: str | None = None
    zone: str | None = None
    deep_health_checks: list[str] = Field(default_factory=list)
