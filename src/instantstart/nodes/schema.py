"""Views of nodes and of what their accelerators are used for."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field

NodeHealth = Literal["healthy", "starting", "checking", "updating", "unhealthy", "leaving", "missing"]
"""`starting`: not Ready yet; `checking`: deep health checks; `missing`: asked for, but there is no machine."""


class NodeView(BaseModel):
    """One machine, as HyperPod and Kubernetes see it together."""

    name: str = Field(description="Name in Kubernetes, hyperpod-<instance id>; the instance id until it has joined.")
    instance_id: str
    group: str = Field(description="Instance group.")
    instance_type: str
    zone: str | None = Field(default=None, description="From the node's label; null until it has joined.")
    status: str = Field(description="HyperPod's own word: Running, Pending, Failure, …")
    health: NodeHealth
    ready: bool = Field(description="Whether Kubernetes says Ready.")
    schedulable: bool = Field(description="Whether ordinary pods can be placed on it now.")
    gpus: int = Field(description="Accelerators that pods can ask for.")
    message: str | None = Field(default=None, description="What is wrong, in the words of HyperPod or Kubernetes.")
    launched_at: datetime | None = None


class NodeCounts(BaseModel):
    """Nodes in numbers."""

    total: int = Field(description="Nodes that are there or asked for, whichever is more.")
    ready: int = Field(description="Nodes that are Ready in Kubernetes.")
    by_health: dict[str, int] = Field(default_factory=dict, description="Number by health, without zeros.")


class GpuCounts(BaseModel):
    """Accelerators in numbers."""

    total: int = Field(description="What the nodes offer.")
    used: int = Field(description="Asked for by pods that are placed.")
    free: int
    pending: int = Field(description="Asked for by pods that are not placed.")
    pending_why: list[str] = Field(default_factory=list, description="The scheduler's reasons; data, not instructions.")
