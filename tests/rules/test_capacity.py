"""Findings about capacity and the table of instance types."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import Any

import pytest

from instantstart.capacity.facts import ALL_CLUSTERS, PER_CLUSTER, CapacityFacts, usage_quota
from instantstart.capacity.rules import findings, views
from instantstart.capacity.schema import CapacityQuestion, TrainingPlanView
from instantstart.core.instances import INSTANCES, close_names, facts_of, threads_per_core

NOW = 1_800_000_000.0
P5, G5, C5 = "ml.p5.48xlarge", "ml.g5.8xlarge", "ml.c5.xlarge"


def plan(**more: Any) -> TrainingPlanView:
    given: dict[str, Any] = {
        "name": "plan-1",
        "arn": "arn:aws:sagemaker:us-west-2:111122223333:training-plan/plan-1",
        "status": "Active",
        "instance_type": P5,
        "zones": ["us-west-2b"],
        "total": 8,
        "available": 4,
        "starts": None,
        "ends": datetime.fromtimestamp(NOW + 86400, UTC),
        "for_hyperpod": True,
    }
    return TrainingPlanView(**(given | more))


def facts(**more: Any) -> CapacityFacts:
    zones = [
        {"ZoneName": f"us-west-2{z}", "ZoneId": f"usw2-az{n}", "State": "available"} for n, z in enumerate("abcd", 1)
    ]
    quotas = {usage_quota(t): 8.0 for t in (P5, G5, C5)} | {usage_quota(G5, spot=True): 0.0}
    given: dict[str, Any] = {
        "region": "us-west-2",
        "now": NOW,
        "zones": zones,
        "offered": {t: {"us-west-2a", "us-west-2b", "us-west-2c"} for t in (P5, G5, C5)},
        "quotas": quotas | {PER_CLUSTER: 100.0, ALL_CLUSTERS: 200.0},
        "used": Counter(),
    }
    return CapacityFacts(**(given | more))


def codes(found: CapacityFacts | None = None, **asked: Any) -> list[tuple[str, str | None]]:
    return [(f.code, f.field) for f in findings(found or facts(), CapacityQuestion(**asked))]


def test_a_good_wish_has_no_findings() -> None:
    good: dict[str, Any] = {"instance_type": P5, "availability_zone": "usw2-az1", "instance_count": 8}
    assert codes(**good, capacity_type="on_demand", interface_mode="efa-only") == []


@pytest.mark.parametrize(
    ("asked", "code", "field"),
    [
        ({"instance_type": "p5.48xlarge"}, "unknown_instance_type", "/instance_type"),
        ({"instance_type": "ml.p9.48xlarge"}, "unknown_instance_type", "/instance_type"),
        ({"availability_zone": "eu-west-1a"}, "unknown_zone", "/availability_zone"),
        ({"instance_type": P5, "availability_zone": "us-west-2d"}, "zone_does_not_offer_type", "/availability_zone"),
        ({"instance_type": P5, "instance_count": 0}, "instance_count_out_of_range", "/instance_count"),
        ({"instance_type": P5, "instance_count": -1}, "instance_count_out_of_range", "/instance_count"),
        ({"instance_type": P5, "instance_count": 10**6}, "instance_count_out_of_range", "/instance_count"),
        ({"instance_type": P5, "instance_count": 9}, "quota_too_low", "/instance_count"),
        ({"instance_type": G5, "instance_count": 1, "capacity_type": "spot"}, "quota_too_low", "/instance_count"),
        ({"instance_type": "ml.g6.xlarge", "instance_count": 1}, "quota_unknown", "/instance_count"),
        ({"instance_type": C5, "interface_mode": "efa"}, "interface_mode_without_efa", "/interface_mode"),
        ({"instance_type": G5, "interface_mode": "efa-only"}, "interface_mode_unsupported", "/interface_mode"),
        (
            {"instance_type": C5, "deep_health_checks": ["instance_stress"]},
            "deep_checks_unsupported",
            "/deep_health_checks",
        ),
        ({"capacity_type": "training_plan"}, "plan_missing", "/training_plan"),
        ({"training_plan": "arn:x/none"}, "plan_not_found", "/training_plan"),
    ],
)
def test_each_fault(asked: dict[str, Any], code: str, field: str) -> None:
    assert codes(**asked) == [(code, field)]


def test_every_fault_is_told_at_once() -> None:
    found = codes(instance_type=C5, availability_zone="nowhere", instance_count=0, interface_mode="efa")
    assert [c for c, _ in found] == ["unknown_zone", "instance_count_out_of_range", "interface_mode_without_efa"]


def test_what_is_in_use_counts() -> None:
    assert codes(facts(used=Counter({P5: 6})), instance_type=P5, instance_count=3) == [
        ("quota_too_low", "/instance_count")
    ]
    assert codes(facts(used=Counter({f"{P5} spot": 6})), instance_type=P5, instance_count=3) == []


@pytest.mark.parametrize(
    ("more", "asked", "code"),
    [
        ({}, {"availability_zone": "us-west-2a"}, "plan_wrong_zone"),
        ({}, {"availability_zone": "usw2-az2"}, None),
        ({"zones": ["usw2-az2"]}, {"availability_zone": "us-west-2b"}, None),
        ({"status": "Expired"}, {}, "plan_ended"),
        ({"ends": datetime.fromtimestamp(NOW - 1, UTC)}, {}, "plan_ended"),
        ({"status": "Pending"}, {}, "plan_not_ready"),
        ({"status": "Scheduled", "starts": datetime.fromtimestamp(NOW + 9, UTC)}, {}, "plan_not_begun"),
        ({"for_hyperpod": False}, {}, "plan_wrong_target"),
        ({"instance_type": "ml.p4d.24xlarge"}, {}, "plan_wrong_type"),
        ({}, {"instance_count": 5}, "plan_too_small"),
        ({}, {"capacity_type": "on_demand"}, "plan_without_capacity_type"),
    ],
)
def test_training_plans(more: dict[str, Any], asked: dict[str, Any], code: str | None) -> None:
    one = plan(**more)
    question = {"instance_type": P5, "capacity_type": "training_plan", "training_plan": one.arn} | asked
    assert [c for c, _ in codes(facts(plan=one), **question)] == ([code] if code else [])


def test_views_show_what_can_be_had() -> None:
    shown = views(facts())
    assert [v.instance_type for v in shown] == [P5, G5, C5]
    assert shown[0].interface_modes == ["efa", "efa-only"] and shown[0].addresses_per_node == 81


def test_the_instance_table() -> None:
    assert len(INSTANCES) == 209
    known = facts_of(P5)
    assert known is not None and known.ec2_name == "p5.48xlarge"
    assert (known.accelerator_count, known.accelerator_memory_gib, known.efa_interfaces) == (8, 80, 32)
    assert (known.addresses("efa"), known.addresses("efa-only"), known.max_pods) == (81, 50, 49)
    figures = {t: f.addresses() for t, f in INSTANCES.items()}
    assert (figures["ml.p4d.24xlarge"], figures["ml.trn1.32xlarge"], figures["ml.trn2.48xlarge"]) == (53, 57, 65)
    assert close_names("p5.48xlarge") == [P5] and facts_of("p5.48xlarge") is None
    assert (threads_per_core(P5), threads_per_core(G5)) == (2, 1)


def test_the_table_covers_what_the_api_takes() -> None:
    from botocore.session import get_session

    model = get_session().get_service_model("sagemaker")
    assert set(model.shape_for("ClusterInstanceType").enum) <= set(INSTANCES)
