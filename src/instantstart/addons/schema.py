"""Views of a cluster's dependencies."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

Health = Literal["healthy", "waiting_for_nodes", "changing", "degraded", "failed", "missing"]


class DependencyView(BaseModel):
    """One add-on or chart."""

    name: str
    kind: Literal["addon", "chart"]
    title: str
    needed_for: str
    required: bool = Field(description="Whether a cluster of ours is made with it.")
    owner: Literal["instantstart", "other"] | None = Field(default=None, description="Who installed it.")
    version: str | None = None
    status: str | None = Field(default=None, description="The service's or Helm's own word.")
    health: Health
    message: str | None = None


class DependencyReport(BaseModel):
    """Every dependency of one cluster."""

    eks_cluster: str
    ready: bool = Field(description="Everything required is healthy.")
    waiting_for_nodes: bool = Field(description="Some of it can run only when there is a node.")
    schedulable_nodes: int
    items: list[DependencyView]
