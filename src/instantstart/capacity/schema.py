"""The question about capacity and its answer. Offered is not the same as free: only AWS knows what is free now."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field

from instantstart.core.plan import Finding

CapacityType = Literal["on_demand", "spot", "training_plan"]
InterfaceMode = Literal["efa", "efa-only"]
DeepHealthCheck = Literal["instance_stress", "instance_connectivity"]


class CapacityQuestion(BaseModel):
    """What is wished for; every part may be open."""

    instance_type: str | None = None
    availability_zone: str | None = Field(default=None, description="Name or id.")
    instance_count: int | None = None
    capacity_type: CapacityType | None = None
    training_plan: str | None = Field(default=None, description="ARN or name.")
    interface_mode: InterfaceMode | None = None
    deep_health_checks: list[DeepHealthCheck] = Field(default_factory=list)


class ZoneView(BaseModel):
    """One availability zone."""

    name: str
    id: str
    state: str


class InstanceTypeView(BaseModel):
    """One instance type in this account and region. Memory in GiB."""

    instance_type: str
    zones: list[str] = Field(description="Names of zones that offer it; whether one has free machines is not known.")
    quota: int | None = Field(description="On demand, for HyperPod clusters.")
    spot_quota: int | None
    in_use: int
    vcpus: int
    memory_gib: float
    accelerator: str | None = Field(description="GPU or Neuron device by name.")
    accelerator_count: int
    accelerator_memory_gib: int
    efa_interfaces: int
    interface_modes: list[InterfaceMode]
    max_pods: int = Field(description="Pods with an address of their own on one node.")
    addresses_per_node: int = Field(description="VPC addresses that one node takes, with the interface mode efa.")
    training_plans: bool = Field(description="Whether training plans are sold for it.")


class TrainingPlanView(BaseModel):
    """One training plan of the account."""

    name: str
    arn: str
    status: str
    instance_type: str | None
    zones: list[str]
    total: int
    available: int
    starts: datetime | None
    ends: datetime | None
    for_hyperpod: bool


class CapacityReport(BaseModel):
    """What can be had, and what speaks against the wish that was asked about."""

    region: str
    zones: list[ZoneView]
    items: list[InstanceTypeView] = Field(description="Types with a quota that a zone offers; accelerated ones first.")
    total: int = Field(description="How many there are; `items` is cut at `limit`.")
    training_plans: list[TrainingPlanView]
    instances_per_cluster: int | None
    instances_in_all_clusters: int | None
    instances_in_use: int
    findings: list[Finding]
    possible: bool | None = Field(description="No finding forbids the wish; null when nothing was asked about.")
