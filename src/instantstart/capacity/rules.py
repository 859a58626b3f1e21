"""Findings about a wish for capacity, each with the field it is about and what to do, all at once. Pure."""

from __future__ import annotations

from typing import Any

from instantstart.capacity.facts import ALL_CLUSTERS, ALL_SPOT, PER_CLUSTER, CapacityFacts, usage_quota
from instantstart.capacity.schema import CapacityQuestion, InstanceTypeView, InterfaceMode
from instantstart.core.instances import INSTANCES, PLAN_TYPES, InstanceFacts, close_names, facts_of
from instantstart.core.plan import Finding, Severity

MOST_INSTANCES = 6758
"""Of one instance group, by the API."""
_TITLES = {
    "unknown_instance_type": "HyperPod does not take this instance type",
    "unknown_zone": "There is no such zone in this region",
    "zone_not_available": "The zone is not available",
    "zone_does_not_offer_type": "The zone does not offer this type",
    "instance_count_out_of_range": "The number of instances is out of range",
    "quota_too_low": "An account quota is too low",
    "quota_unknown": "The quota for this type is not known",
    "plan_missing": "No training plan is named",
    "plan_without_capacity_type": "A training plan is named, but another capacity type",
    "plan_not_found": "There is no such training plan",
    "plan_ended": "The training plan has ended",
    "plan_not_ready": "The training plan cannot be used",
    "plan_wrong_type": "The training plan is for another instance type",
    "plan_wrong_target": "The training plan is not for HyperPod",
    "plan_wrong_zone": "The training plan lies in another zone",
    "plan_too_small": "The training plan has too few free instances",
    "plan_not_begun": "The training plan has not begun",
    "interface_mode_without_efa": "This type has no EFA",
    "interface_mode_unsupported": "The interface mode does not fit the type",
    "deep_checks_unsupported": "Deep health checks need an accelerator",
}


def findings(facts: CapacityFacts, question: CapacityQuestion) -> list[Finding]:
    """Everything that forbids the wish or is worth knowing before it."""
    return [
        *_type(question),
        *_zone(facts, question),
        *_count(facts, question),
        *_plan(facts, question),
        *_interfaces(question),
        *_checks(question),
    ]


def _finding(
    code: str, field: str, detail: str, remedy: str, *, severity: Severity = "blocking", evidence: Any = None
) -> Finding:
    return Finding(
        code=code,
        severity=severity,
        title=_TITLES[code],
        detail=detail,
        remedy=remedy,
        field=field,
        evidence=evidence or {},
    )


def _known(question: CapacityQuestion) -> InstanceFacts | None:
    return facts_of(question.instance_type) if question.instance_type else None


def _type(question: CapacityQuestion) -> list[Finding]:
    if question.instance_type is None or _known(question) is not None:
        return []
    close = close_names(question.instance_type)
    remedy = f"Perhaps you mean {', '.join(close)}." if close else "Types begin with `ml.`; list what can be had."
    detail = f"{question.instance_type} is no type that HyperPod takes."
    return [_finding("unknown_instance_type", "/instance_type", detail, remedy, evidence={"close": close})]


def _zone(facts: CapacityFacts, question: CapacityQuestion) -> list[Finding]:
    wanted = question.availability_zone
    if wanted is None:
        return []
    field = "/availability_zone"
    zone = next((z for z in facts.zones if wanted in (z["ZoneName"], z.get("ZoneId"))), None)
    names = sorted(z["ZoneName"] for z in facts.zones)
    if zone is None:
        detail = f"{facts.region} has no zone {wanted}."
        return [_finding("unknown_zone", field, detail, f"Choose one of {', '.join(names)}.")]
    if zone.get("State", "available") != "available":
        detail = f"{zone['ZoneName']} is {zone['State']}."
        return [_finding("zone_not_available", field, detail, "Choose another zone.")]
    known = _known(question)
    if known is None or zone["ZoneName"] in (offering := facts.offered.get(known.instance_type, set())):
        return []
    ids = {z["ZoneName"]: z.get("ZoneId", "") for z in facts.zones}
    shown = ", ".join(f"{n} ({ids.get(n, '')})" for n in sorted(offering))
    remedy = f"Choose {shown}; trying again in {zone['ZoneName']} cannot work." if offering else "Choose another type."
    detail = f"{zone['ZoneName']} ({zone.get('ZoneId', '')}) does not offer {known.instance_type}."
    evidence = {"zone": zone["ZoneName"], "offered_in": sorted(offering)}
    return [_finding("zone_does_not_offer_type", field, detail, remedy, evidence=evidence)]


def _count(facts: CapacityFacts, question: CapacityQuestion) -> list[Finding]:
    count, known, field = question.instance_count, _known(question), "/instance_count"
    if count is None:
        return []
    if not 1 <= count <= MOST_INSTANCES:
        detail = f"{count} instances were asked for; a group has 1 to {MOST_INSTANCES}."
        return [_finding("instance_count_out_of_range", field, detail, "Ask for a number in that range.")]
    found = _within(facts, PER_CLUSTER, 0, count)
    if known is None or question.capacity_type == "training_plan":
        return found
    spot = question.capacity_type == "spot"
    name = usage_quota(known.instance_type, spot=spot)
    if name not in facts.quotas:
        detail = f"Service Quotas does not list '{name}'."
        remedy = "Look in the Service Quotas console whether the account may use this type."
        return [*found, _finding("quota_unknown", field, detail, remedy, severity="warning")]
    key = f"{known.instance_type} spot" if spot else known.instance_type
    found += _within(facts, name, facts.used[key], count)
    if spot:
        used = sum(n for k, n in facts.used.items() if k.endswith(" spot"))
        return [*found, *_within(facts, ALL_SPOT, used, count)]
    return [*found, *_within(facts, ALL_CLUSTERS, facts.in_use, count)]


def _within(facts: CapacityFacts, name: str, used: int, asked: int) -> list[Finding]:
    limit = facts.quotas.get(name)
    if limit is None or used + asked <= limit:
        return []
    detail = f"The quota '{name}' is {limit:g}; {used} are in use and {asked} more are asked for."
    remedy = f"Ask for at most {max(0, int(limit) - used)}, or for an increase of '{name}' in Service Quotas."
    evidence = {"quota": name, "limit": limit, "in_use": used, "asked": asked}
    return [_finding("quota_too_low", "/instance_count", detail, remedy, evidence=evidence)]


def _plan(facts: CapacityFacts, question: CapacityQuestion) -> list[Finding]:
    field = "/training_plan"
    if question.training_plan is None:
        if question.capacity_type != "training_plan":
            return []
        usable = [p.arn for p in facts.plans if p.status in ("Active", "Scheduled") and p.for_hyperpod]
        remedy = f"Name one of {', '.join(usable)}." if usable else "Buy a training plan first, or choose on_demand."
        return [_finding("plan_missing", field, "The capacity type is training_plan.", remedy)]
    found = []
    if question.capacity_type is not None and question.capacity_type != "training_plan":
        detail = f"The capacity type is {question.capacity_type}, so the training plan would not be used."
        remedy = "Set capacity_type to training_plan, or leave the plan out."
        found.append(_finding("plan_without_capacity_type", "/capacity_type", detail, remedy))
    if facts.plan is None:
        detail = f"{question.training_plan} is not in this account and region."
        return [*found, _finding("plan_not_found", field, detail, "Look at the plans in the capacity report.")]
    return found + _plan_fits(facts, question)


def _plan_fits(facts: CapacityFacts, question: CapacityQuestion) -> list[Finding]:
    plan, field, found = facts.plan, "/training_plan", []
    assert plan is not None
    ended = plan.ends is not None and plan.ends.timestamp() <= facts.now
    if plan.status == "Expired" or ended:
        detail = f"Plan {plan.name} ended{f' at {plan.ends.isoformat()}' if plan.ends else ''}."
        return [_finding("plan_ended", field, detail, "Choose another plan, or another capacity type.")]
    if plan.status not in ("Active", "Scheduled"):
        detail = f"Plan {plan.name} is {plan.status}."
        found.append(_finding("plan_not_ready", field, detail, "Choose a plan that is Active or Scheduled."))
    elif plan.status == "Scheduled" and plan.starts is not None and plan.starts.timestamp() > facts.now:
        detail = f"Plan {plan.name} begins at {plan.starts.isoformat()}; nodes come then."
        found.append(_finding("plan_not_begun", field, detail, "Nothing, or begin later.", severity="warning"))
    if not plan.for_hyperpod:
        detail = f"Plan {plan.name} is for something else than HyperPod clusters."
        found.append(_finding("plan_wrong_target", field, detail, "Choose a plan for hyperpod-cluster."))
    if plan.instance_type and question.instance_type and plan.instance_type != question.instance_type:
        detail = f"Plan {plan.name} is for {plan.instance_type}, not {question.instance_type}."
        remedy = f"Ask for {plan.instance_type}, or choose another plan."
        found.append(_finding("plan_wrong_type", "/instance_type", detail, remedy))
    zone = next((z for z in facts.zones if question.availability_zone in (z["ZoneName"], z.get("ZoneId"))), None)
    if zone is not None and plan.zones and not {zone["ZoneName"], zone.get("ZoneId")} & set(plan.zones):
        detail = f"Plan {plan.name} lies in {', '.join(plan.zones)}, not in {zone['ZoneName']}."
        remedy = f"Choose {plan.zones[0]}."
        found.append(_finding("plan_wrong_zone", "/availability_zone", detail, remedy, evidence={"zones": plan.zones}))
    if question.instance_count and question.instance_count > plan.available:
        detail = (
            f"Plan {plan.name} has {plan.available} of {plan.total} instances free; {question.instance_count} asked."
        )
        found.append(_finding("plan_too_small", "/instance_count", detail, f"Ask for at most {plan.available}."))
    return found


def _interfaces(question: CapacityQuestion) -> list[Finding]:
    known, mode, field = _known(question), question.interface_mode, "/interface_mode"
    if known is None or mode is None:
        return []
    if known.efa_interfaces == 0:
        detail = f"{known.instance_type} has no EFA interfaces, so it cannot have the interface mode {mode}."
        return [_finding("interface_mode_without_efa", field, detail, "Leave the interface mode out.")]
    if mode == "efa-only" and not known.efa_only:
        detail = f"{known.instance_type} has no secondary EFA cards that efa-only would be for."
        return [_finding("interface_mode_unsupported", field, detail, "Use efa, or leave it out.")]
    return []


def _checks(question: CapacityQuestion) -> list[Finding]:
    known = _known(question)
    if not question.deep_health_checks or known is None or known.accelerator is not None:
        return []
    detail = f"{known.instance_type} has no GPU or Trainium; deep health checks stress those."
    return [_finding("deep_checks_unsupported", "/deep_health_checks", detail, "Leave deep_health_checks out.")]


def views(facts: CapacityFacts) -> list[InstanceTypeView]:
    """The types that a zone offers and the account has a quota for; most accelerator memory first."""
    found = [_view(facts, i) for t, i in INSTANCES.items() if facts.offered.get(t)]
    had = [v for v in found if v.quota or v.spot_quota or v.quota is None]
    return sorted(had, key=lambda v: (-v.accelerator_count * v.accelerator_memory_gib, -v.vcpus, v.instance_type))


def _view(facts: CapacityFacts, known: InstanceFacts) -> InstanceTypeView:
    modes: list[InterfaceMode] = ["efa"] if known.efa_interfaces else []
    if known.efa_only:
        modes.append("efa-only")
    name = known.instance_type
    return InstanceTypeView(
        instance_type=name,
        zones=sorted(facts.offered.get(name, set())),
        quota=_whole(facts.quotas.get(usage_quota(name))),
        spot_quota=_whole(facts.quotas.get(usage_quota(name, spot=True))),
        in_use=facts.used[name] + facts.used[f"{name} spot"],
        vcpus=known.vcpus,
        memory_gib=known.memory_gib,
        accelerator=known.accelerator_name,
        accelerator_count=known.accelerator_count,
        accelerator_memory_gib=known.accelerator_memory_gib,
        efa_interfaces=known.efa_interfaces,
        interface_modes=modes,
        max_pods=known.max_pods,
        addresses_per_node=known.addresses(),
        training_plans=name in PLAN_TYPES,
    )


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)
