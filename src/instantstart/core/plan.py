"""Plans: the difference between an intent and what was observed, as an ordered graph of stages.

A plan is data. The engine runs it, the faces show it before it runs, a dry run stops at it.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

EffectClass = Literal["token", "named", "absolute", "once"]
"""How a change outside is made safe to repeat: see docs/architecture.md."""

Severity = Literal["blocking", "warning", "info"]
Action = Literal["create", "adopt", "update", "remove", "keep"]


class Finding(BaseModel):
    """One thing that a check found, with what to do about it."""

    code: str
    severity: Severity
    title: str
    detail: str
    remedy: str | None = None
    field: str | None = Field(default=None, description="JSON pointer of the field it is about.")
    evidence: dict[str, Any] = Field(default_factory=dict)


class Change(BaseModel):
    """One field whose live value differs from the wished one."""

    field: str
    live: Any = None
    desired: Any = None


class PlannedObject(BaseModel):
    """One AWS or Kubernetes object that the plan touches."""

    kind: str = Field(description="AWS::EKS::Cluster, PersistentVolumeClaim, …")
    name: str
    action: Action
    where: Literal["aws", "kubernetes"]
    detail: str | None = None


class StageSpec(BaseModel):
    """One stage of a plan. `definition` names the registered stage function, `params` is what it is given."""

    name: str
    step: str
    title: str
    needs: list[str] = Field(default_factory=list, description="Stages that must have succeeded before.")
    definition: str
    params: dict[str, Any] = Field(default_factory=dict)
    version: int = 1
    typical_seconds: int = 5
    deadline_seconds: int | None = Field(default=None, description="Fails when it still waits after this long.")
    locks: list[str] = Field(default_factory=list, description="Write locks held while it runs.")


class Consent(BaseModel):
    """What a retry would have to remove first; it does so only when the asker accepts it."""

    objects: list[PlannedObject]
    stages: list[StageSpec] = Field(description="Removal stages, run in this order before `rerun`.")
    rerun: list[str] = Field(description="Stages that run again, in order; the failed one among them.")


class TerminalForms(BaseModel):
    """The same change for a terminal. The product itself never runs these."""

    curl: str = ""
    mcp: str = ""
    aws: list[str] = Field(default_factory=list)
    kubectl: list[str] = Field(default_factory=list)


class Plan(BaseModel):
    """What would happen, before it happens. No stages means `unchanged`."""

    kind: str
    cluster: str | None = None
    summary: str
    stages: list[StageSpec] = Field(default_factory=list)
    changes: list[Change] = Field(default_factory=list)
    objects: list[PlannedObject] = Field(default_factory=list)
    findings: list[Finding] = Field(default_factory=list)
    irreversible: list[str] = Field(default_factory=list)
    warnings: list[str] = Field(default_factory=list)
    typical_seconds: int = Field(default=0, description="Along the longest path of the graph.")
    commands: TerminalForms = Field(default_factory=TerminalForms)

    @property
    def blocking(self) -> list[Finding]:
        """The findings that forbid the change."""
        return [f for f in self.findings if f.severity == "blocking"]


def critical_path_seconds(stages: list[StageSpec]) -> int:
    """Typical duration along the longest path of `needs`, in seconds. Raises ValueError on a cycle or a gap."""
    by_name = {s.name: s for s in stages}
    done: dict[str, int] = {}

    def finish(name: str, path: tuple[str, ...]) -> int:
        if name in path or name not in by_name:
            raise ValueError(f"stage graph is broken at {name}")
        if name not in done:
            spec = by_name[name]
            start = max((finish(n, (*path, name)) for n in spec.needs), default=0)
            done[name] = start + spec.typical_seconds
        return done[name]

    return max((finish(s.name, ()) for s in stages), default=0)
