"""What was read about capacity, and the names of the quotas that count."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from instantstart.capacity.schema import TrainingPlanView

Doc = dict[str, Any]
PER_CLUSTER = "Maximum number instances allowed per SageMaker HyperPod cluster"
ALL_CLUSTERS = "Total number of instances allowed across SageMaker HyperPod clusters"
ALL_SPOT = "Total number of Spot instances allowed across SageMaker HyperPod clusters"


def usage_quota(instance_type: str, *, spot: bool = False) -> str:
    """Name of the quota for this type (`ml.…`) in HyperPod clusters."""
    return f"{instance_type} for cluster {'spot instance ' if spot else ''}usage"


@dataclass(frozen=True)
class CapacityFacts:
    """What was read."""

    region: str
    now: float
    zones: list[Doc]
    offered: dict[str, set[str]]
    """Zone names by instance type (`ml.…`)."""
    quotas: dict[str, float]
    """By quota name; only those that were asked for."""
    used: Counter[str]
    """Instances in HyperPod clusters by type; Spot ones are counted as `<type> spot`."""
    plan: TrainingPlanView | None = None
    """The plan that was asked about, when it exists."""
    plans: list[TrainingPlanView] = field(default_factory=list)

    @property
    def in_use(self) -> int:
        """Instances in all HyperPod clusters."""
        return sum(self.used.values())
