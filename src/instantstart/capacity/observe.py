"""Reads zones, offerings, quotas, training plans and what is in use into one snapshot."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

from instantstart.aws import ec2, sagemaker
from instantstart.aws.clients import AwsClients
from instantstart.aws.quotas import all_quotas, quota
from instantstart.capacity.facts import ALL_CLUSTERS, ALL_SPOT, PER_CLUSTER, CapacityFacts, usage_quota
from instantstart.capacity.schema import CapacityQuestion, TrainingPlanView
from instantstart.core.instances import INSTANCES, facts_of
from instantstart.operations.services import Services

Doc = dict[str, Any]
_FILTER_VALUES = 150
"""EC2 takes at most 200 values in one filter."""


async def observe(services: Services, question: CapacityQuestion) -> CapacityFacts:
    """Read what the question needs; without a type, every type. Raises AwsProblem."""
    aws = services.aws
    known = facts_of(question.instance_type) if question.instance_type else None
    types = [known.instance_type] if known else [] if question.instance_type else list(INSTANCES)
    zones, offered, quotas, used, plans = await asyncio.gather(
        ec2.zones(aws), _offered(aws, types), _quotas(aws, types), _used(aws), _plans(aws, question)
    )
    asked = (question.training_plan or "").rpartition("/")[2]
    return CapacityFacts(
        region=aws.region,
        now=services.clock.time(),
        zones=zones,
        offered=offered,
        quotas=quotas,
        used=used,
        plan=next((p for p in plans if asked and p.name == asked), None),
        plans=plans,
    )


async def _offered(aws: AwsClients, types: list[str]) -> dict[str, set[str]]:
    """Zones by type. EC2 knows types without `ml.`; with it the answer would be empty, not an error."""
    names = [INSTANCES[t].ec2_name for t in types]
    parts = [names[i : i + _FILTER_VALUES] for i in range(0, len(names), _FILTER_VALUES)]
    answers = await asyncio.gather(*(ec2.offerings(aws, part) for part in parts))
    found: dict[str, set[str]] = {}
    for offering in (o for answer in answers for o in answer):
        found.setdefault(f"ml.{offering['InstanceType']}", set()).add(offering["Location"])
    return found


async def _quotas(aws: AwsClients, types: list[str]) -> dict[str, float]:
    if len(types) > 1:
        return await all_quotas(aws, "sagemaker")
    names = [PER_CLUSTER, ALL_CLUSTERS, ALL_SPOT]
    names += [usage_quota(t, spot=spot) for t in types for spot in (False, True)]
    first = await quota(aws, "sagemaker", names[0])  # learns the codes of all, once
    values = [first, *await asyncio.gather(*(quota(aws, "sagemaker", n) for n in names[1:]))]
    return {n: v for n, v in zip(names, values, strict=True) if v is not None}


async def _used(aws: AwsClients) -> Counter[str]:
    """Instances that the account's HyperPod clusters have or are to have, by type."""
    listed = await sagemaker.list_clusters(aws)
    clusters = await asyncio.gather(*(sagemaker.describe_cluster(aws, c["ClusterName"]) for c in listed))
    found: Counter[str] = Counter()
    for cluster in clusters:
        for group in (cluster or {}).get("InstanceGroups") or []:
            if group.get("TrainingPlanArn"):
                continue
            spot = "Spot" in (group.get("CapacityRequirements") or {})
            name = group.get("InstanceType") or ""
            found[f"{name} spot" if spot else name] += max(group.get("TargetCount", 0), group.get("CurrentCount", 0))
    return found


async def _plans(aws: AwsClients, question: CapacityQuestion) -> list[TrainingPlanView]:
    if question.training_plan:
        found = await sagemaker.describe_training_plan(aws, question.training_plan)
        return [read_plan(found)] if found else []
    return [read_plan(p) for p in await sagemaker.list_training_plans(aws)]


def read_plan(plan: Doc) -> TrainingPlanView:
    """A plan from DescribeTrainingPlan or ListTrainingPlans. Its zones are not in its ARN, only here."""
    parts = plan.get("ReservedCapacitySummaries") or []
    return TrainingPlanView(
        name=plan["TrainingPlanName"],
        arn=plan["TrainingPlanArn"],
        status=plan["Status"],
        instance_type=next((p["InstanceType"] for p in parts if p.get("InstanceType")), None),
        zones=list(dict.fromkeys(p["AvailabilityZone"] for p in parts if p.get("AvailabilityZone"))),
        total=plan.get("TotalInstanceCount", 0),
        available=plan.get("AvailableInstanceCount", 0),
        starts=plan.get("StartTime"),
        ends=plan.get("EndTime"),
        for_hyperpod="hyperpod-cluster" in (plan.get("TargetResources") or ["hyperpod-cluster"]),
    )
