"""Views of operations and what mutations answer: the source of these types for REST, MCP and TypeScript."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from instantstart.core.access import Face
from instantstart.core.plan import Plan, PlannedObject
from instantstart.core.problem import Problem

OperationState = Literal[
    "awaiting_approval",
    "queued",
    "running",
    "waiting",
    "succeeded",
    "failed",
    "cancelled",
    "superseded",
    "rejected",
    "expired",
]
StageState = Literal["pending", "running", "waiting", "succeeded", "unchanged", "failed", "unproven", "cancelled"]
TERMINAL: frozenset[str] = frozenset({"succeeded", "failed", "cancelled", "superseded", "rejected", "expired"})
STAGE_DONE: frozenset[str] = frozenset({"succeeded", "unchanged", "unproven"})


class InFlight(BaseModel):
    """Something that AWS or Kubernetes goes on doing by itself, and the command that undoes it."""

    what: str
    undo: str


class AttemptView(BaseModel):
    """One try of a stage, or one call that it sent."""

    number: int
    effect: str | None = Field(default=None, description="The call, e.g. eks:CreateCluster.")
    state: Literal["running", "sending", "answered", "failed", "lost", "ended"]
    started_at: datetime
    ended_at: datetime | None = None
    request_ids: list[str] = Field(default_factory=list)
    problem: Problem | None = None


class StageView(BaseModel):
    """One stage of an operation, as people and agents see it."""

    name: str
    step: str
    title: str
    needs: list[str]
    state: StageState
    attempts: int
    typical_seconds: int
    started_at: datetime | None = None
    ended_at: datetime | None = None
    message: str | None = None
    attention: str | None = Field(default=None, description="What a person should know now, while it still waits.")
    problem: Problem | None = None
    outputs: dict[str, Any] = Field(default_factory=dict)
    retry_needs_consent: list[PlannedObject] = Field(
        default_factory=list, description="What a retry would remove first; retry with accept: [stage]."
    )
    history: list[AttemptView] = Field(default_factory=list)


class Progress(BaseModel):
    """How far an operation is."""

    done: int = Field(description="Stages that are done.")
    total: int
    percent: int = Field(ge=0, le=100, description="By typical duration.")
    remaining_seconds: int | None = Field(default=None, description="Typical time left, in seconds.")
    step: str | None = Field(default=None, description="The step at work now.")


class OperationView(BaseModel):
    """One durable operation."""

    id: str
    kind: str = Field(description="The operationId of the route that asked for it.")
    cluster: str | None
    title: str
    state: OperationState
    terminal: bool
    revision: int
    stages: list[StageView]
    problem: Problem | None = None
    attention: list[str] = Field(default_factory=list)
    progress: Progress
    requested_by: str
    face: Face
    created_at: datetime
    started_at: datetime | None = None
    ended_at: datetime | None = None
    cancel_requested: bool = False
    left_behind: list[InFlight] = Field(default_factory=list, description="After a cancel: what goes on outside.")
    superseded_by: str | None = None
    intent: dict[str, Any] = Field(default_factory=dict)
    settled_by: str = "operation_get_status"
    verify_with: str


class OperationSummary(BaseModel):
    """One row of the list of operations."""

    id: str
    kind: str
    cluster: str | None
    title: str
    state: OperationState
    terminal: bool
    revision: int
    progress: Progress
    problem: Problem | None = None
    attention: list[str] = Field(default_factory=list)
    requested_by: str
    face: Face
    created_at: datetime
    ended_at: datetime | None = None


class OperationList(BaseModel):
    """A page of operations, newest first."""

    items: list[OperationSummary]
    next_cursor: str | None = None


class OperationWaited(BaseModel):
    """What operation_wait answers."""

    operation: OperationView
    reason: Literal["terminal", "attention", "timeout"]
    next_poll_seconds: int | None = Field(description="When to ask again; None when it has ended.")


class Unchanged(BaseModel):
    """The wished state and the real state already match: nothing was begun."""

    unchanged: Literal[True] = True
    cluster: str | None
    summary: str
    settled_by: str = "operation_get_status"
    verify_with: str


class PlanView(Plan):
    """A dry run's answer: the plan, and whether it could be carried out as it stands."""

    dry_run: Literal[True] = True
    can_start: bool = Field(description="False when a finding is blocking.")
    settled_by: str = "operation_get_status"
    verify_with: str


class RetryRequest(BaseModel):
    """Body of operation_retry."""

    model_config = ConfigDict(extra="forbid")

    stage: str | None = Field(default=None, description="The failed stage to run again; all failed ones when absent.")
    accept: list[str] = Field(
        default_factory=list, description="Stages whose retry may remove what stands in the way (see consent_required)."
    )


ChangeAnswer = OperationView | Unchanged | PlanView
