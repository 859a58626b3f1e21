"""The route of capacity: what can be had, and what speaks against a wish."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request

from instantstart.aws.errors import AWS_CREDENTIALS, AWS_DENIED, AWS_THROTTLED, AWS_UNAVAILABLE
from instantstart.capacity import rules
from instantstart.capacity.facts import ALL_CLUSTERS, PER_CLUSTER
from instantstart.capacity.observe import observe
from instantstart.capacity.schema import (
    CapacityQuestion,
    CapacityReport,
    CapacityType,
    DeepHealthCheck,
    InterfaceMode,
    ZoneView,
)
from instantstart.operations.routing import SliceRouter
from instantstart.operations.services import Services

router = SliceRouter(tags=["capacity"])


@router.tool(
    "GET",
    "/capacity",
    name="cluster_get_available_instances",
    access="viewer",
    kind="R",
    answer=CapacityReport,
    problems=[AWS_UNAVAILABLE, AWS_THROTTLED, AWS_DENIED, AWS_CREDENTIALS],
)
async def cluster_get_available_instances(
    request: Request,
    instance_type: Annotated[str | None, Query(description="Only this type, e.g. ml.p5.48xlarge.")] = None,
    availability_zone: Annotated[str | None, Query(description="Name or id.")] = None,
    instance_count: int | None = None,
    capacity_type: CapacityType | None = None,
    training_plan: Annotated[str | None, Query(description="ARN.")] = None,
    interface_mode: InterfaceMode | None = None,
    deep_health_checks: Annotated[list[DeepHealthCheck] | None, Query()] = None,
    limit: Annotated[int, Query(ge=1, le=300)] = 30,
) -> CapacityReport:
    """Zones and instance types that this account and region can satisfy, with quotas, plans, GPU and EFA facts.

    Give what you want to create, and `findings` says what speaks against it and what to do.
    """
    question = CapacityQuestion(
        instance_type=instance_type,
        availability_zone=availability_zone,
        instance_count=instance_count,
        capacity_type=capacity_type,
        training_plan=training_plan,
        interface_mode=interface_mode,
        deep_health_checks=deep_health_checks or [],
    )
    return await report(request.app.state.services, question, limit)


async def report(services: Services, question: CapacityQuestion, limit: int) -> CapacityReport:
    """The answer to a question about capacity; `limit` cuts the list of types."""
    facts = await observe(services, question)
    found = rules.findings(facts, question)
    items = rules.views(facts)
    asked = question != CapacityQuestion()
    return CapacityReport(
        region=facts.region,
        zones=[ZoneView(name=z["ZoneName"], id=z.get("ZoneId", ""), state=z.get("State", "")) for z in facts.zones],
        items=items[:limit],
        total=len(items),
        training_plans=facts.plans,
        instances_per_cluster=_whole(facts.quotas.get(PER_CLUSTER)),
        instances_in_all_clusters=_whole(facts.quotas.get(ALL_CLUSTERS)),
        instances_in_use=facts.in_use,
        findings=found,
        possible=not any(f.severity == "blocking" for f in found) if asked else None,
    )


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)
