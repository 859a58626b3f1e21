"""Training plans: what is held, what could be bought, and when a plan begins and ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from instantstart_sandbox.aws.paging import page
from instantstart_sandbox.aws.registry import CallContext, Handler, Params
from instantstart_sandbox.aws.sagemaker.parts import CLUSTER, Doc, Parts, refuse
from instantstart_sandbox.defaults import PLAN, is_offered

_TYPES = ("ml.p4d.24xlarge", "ml.p5.48xlarge", "ml.p5e.48xlarge", "ml.p5en.48xlarge", "ml.trn1.32xlarge")
_HOURLY = {"ml.p4d.24xlarge": 20, "ml.p5.48xlarge": 32, "ml.p5e.48xlarge": 38, "ml.p5en.48xlarge": 40}


def by_arn(parts: Parts, name_or_arn: str) -> Doc | None:
    """The plan's document by name or ARN."""
    return parts.world.store.get(PLAN, name_or_arn.rpartition("/")[2])


def status(parts: Parts, plan: Doc) -> str:
    """Scheduled, Active or Expired, by the clock."""
    now = parts.world.clock.time()
    return "Scheduled" if now < plan["start"] else "Active" if now < plan["end"] else "Expired"


def in_use(parts: Parts, plan: Doc) -> int:
    """Instances of the plan that groups hold."""
    groups = (g for c in parts.world.store.list(CLUSTER) for g in c["groups"].values())
    return sum(g["target"] for g in groups if g["spec"].get("TrainingPlanArn") == plan["TrainingPlanArn"])


class Plans:
    """Operations on training plans."""

    def __init__(self, parts: Parts) -> None:
        self.parts, self.world = parts, parts.world
        self.operations: dict[str, Handler] = {
            "SearchTrainingPlanOfferings": self.search,
            "CreateTrainingPlan": self.create,
            "DescribeTrainingPlan": self.describe,
            "ListTrainingPlans": self.list,
        }

    def _view(self, plan: Doc) -> dict[str, Any]:
        state, used = status(self.parts, plan), in_use(self.parts, plan)
        hours, minutes = divmod(int(plan["end"] - plan["start"]) // 60, 60)
        capacity = {
            "ReservedCapacityArn": plan["TrainingPlanArn"].replace("training-plan/", "reserved-capacity/"),
            "ReservedCapacityType": "Instance",
            "InstanceType": plan["instance_type"],
            "TotalInstanceCount": plan["count"],
            "Status": state,
            "AvailabilityZone": plan["zone"],
            "AvailabilityZoneId": self.world.account.zone_id(plan["zone"]),
            "DurationHours": hours,
            "DurationMinutes": minutes,
            "StartTime": plan["start"],
            "EndTime": plan["end"],
        }
        return {
            "TrainingPlanArn": plan["TrainingPlanArn"],
            "TrainingPlanName": plan["TrainingPlanName"],
            "Status": state,
            "DurationHours": hours,
            "DurationMinutes": minutes,
            "StartTime": plan["start"],
            "EndTime": plan["end"],
            "UpfrontFee": plan["fee"],
            "CurrencyCode": "USD",
            "TotalInstanceCount": plan["count"],
            "AvailableInstanceCount": max(0, plan["count"] - used) if state == "Active" else 0,
            "InUseInstanceCount": used,
            "TargetResources": plan["targets"],
            "ReservedCapacitySummaries": [capacity],
        }

    def describe(self, _ctx: CallContext, params: Params) -> dict[str, Any]:
        """One plan by name or ARN."""
        plan = by_arn(self.parts, params["TrainingPlanName"])
        if plan is None:
            refuse("ResourceNotFound", f"Training plan {params['TrainingPlanName']} could not be found.")
        return {**self._view(plan), "UnhealthyInstanceCount": 0}

    def list(self, _ctx: CallContext, params: Params) -> dict[str, Any]:
        """All plans, filtered by status."""
        found = [self._view(p) for p in self.world.store.list(PLAN)]
        for wanted in params.get("Filters") or []:
            found = [p for p in found if p["Status"] == wanted["Value"]]
        key = {"StartTime": "StartTime", "Status": "Status"}.get(params.get("SortBy", ""), "TrainingPlanName")
        found.sort(key=lambda p: p[key], reverse=params.get("SortOrder") == "Descending")
        question = {k: v for k, v in params.items() if k not in ("NextToken", "MaxResults")}
        items, token = page(found, params.get("MaxResults", 10), params.get("NextToken"), question)
        return {"TrainingPlanSummaries": items, "NextToken": token}

    def search(self, _ctx: CallContext, params: Params) -> dict[str, Any]:
        """What could be bought: one offering for each zone that has the type."""
        kind = params.get("InstanceType", "ml.p5.48xlarge")
        targets = params.get("TargetResources") or ["hyperpod-cluster"]
        hours, count = max(24, params.get("DurationHours", 24)), params.get("InstanceCount") or 1
        first = max(params.get("StartTimeAfter", 0.0), self.world.clock.time())
        start = (first // 86400 + 1) * 86400 + 11.5 * 3600
        found = []
        for zone in self.world.account.zones:
            if kind not in _TYPES or not is_offered(self.world, kind, zone) or count > 16:
                continue
            end = start + hours * 3600
            if end > params.get("EndTimeBefore", float("inf")):
                continue
            found.append(self._offering(kind, zone, count, start, hours, targets))
        return {"TrainingPlanOfferings": found}

    def _offering(
        self, kind: str, zone: str, count: int, start: float, hours: int, targets: Sequence[str]
    ) -> dict[str, Any]:
        position = self.world.account.zones.index(zone)
        model = kind.removeprefix("ml.").replace(".", "-")
        return {
            "TrainingPlanOfferingId": f"tpo-{model}-{position}-{count}-{int(start)}-{hours}",
            "TargetResources": targets,
            "DurationHours": hours,
            "DurationMinutes": 0,
            "UpfrontFee": f"{_HOURLY.get(kind, 20) * hours * count:.2f}",
            "CurrencyCode": "USD",
            "ReservedCapacityOfferings": [
                {
                    "ReservedCapacityType": "Instance",
                    "InstanceType": kind,
                    "InstanceCount": count,
                    "AvailabilityZone": zone,
                    "DurationHours": hours,
                    "DurationMinutes": 0,
                    "StartTime": start,
                    "EndTime": start + hours * 3600,
                }
            ],
        }

    def create(self, _ctx: CallContext, params: Params) -> dict[str, Any]:
        """Buy an offering; there is no client token, and the money is spent at once."""
        name, offering = params["TrainingPlanName"], params["TrainingPlanOfferingId"]
        if self.world.store.get(PLAN, name):
            refuse("ResourceInUse", f"Training plan {name} already exists.")
        parts = offering.removeprefix("tpo-").rsplit("-", 4)
        kinds = {t.removeprefix("ml.").replace(".", "-"): t for t in _TYPES}
        if len(parts) != 5 or parts[0] not in kinds or not all(p.isdigit() for p in parts[1:]):
            refuse("ResourceNotFound", f"Training plan offering {offering} could not be found.")
        if len(self.world.store.list(PLAN)) >= 8:
            refuse(
                "ResourceLimitExceeded", "The account-level service limit 'Number of training plans per Region' is 8."
            )
        kind = kinds[parts[0]]
        position, count, start, hours = (int(p) for p in parts[1:])
        plan = {
            "TrainingPlanName": name,
            "TrainingPlanArn": self.parts.arn("training-plan", name),
            "instance_type": kind,
            "count": count,
            "zone": self.world.account.zones[position % 4],
            "start": float(start),
            "end": float(start + hours * 3600),
            "targets": ["hyperpod-cluster"],
            "fee": f"{_HOURLY.get(kind, 20) * hours * count:.2f}",
            "tags": {t["Key"]: t["Value"] for t in params.get("Tags") or []},
        }
        self.world.store.put(PLAN, name, plan)
        return {"TrainingPlanArn": plan["TrainingPlanArn"]}
