"""Inspect before create, from the route to the simulated AWS and back."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest

from instantstart_sandbox.assembly import Sandbox

P5, G5, CPU = "ml.p5.48xlarge", "ml.g5.8xlarge", "ml.c5.xlarge"


async def ask(api: httpx2.AsyncClient, **question: Any) -> dict[str, Any]:
    answer = await api.get("/capacity", params=question)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def test_the_default_world_can_hold_a_cluster(api: httpx2.AsyncClient, sandbox: Sandbox) -> None:
    report = await ask(api, limit=300)
    assert [z["name"] for z in report["zones"]] == ["us-west-2a", "us-west-2b", "us-west-2c", "us-west-2d"]
    by_type = {i["instance_type"]: i for i in report["items"]}
    for kind in (P5, G5, CPU):
        assert {"us-west-2a", "us-west-2b", "us-west-2c"} <= set(by_type[kind]["zones"])
        assert by_type[kind]["quota"] >= 8
    calls = sandbox.world.requests.page()["items"]
    assert {c["service"] for c in calls} == {"ec2", "sagemaker", "service-quotas"}
    assert not any(c["mutating"] for c in calls)


@pytest.mark.parametrize(
    ("question", "code", "field"),
    [
        ({"instance_type": "p5.48xlarge"}, "unknown_instance_type", "/instance_type"),
        ({"instance_type": P5, "instance_count": 500}, "quota_too_low", "/instance_count"),
        ({"instance_type": P5, "availability_zone": "us-east-1a"}, "unknown_zone", "/availability_zone"),
        ({"instance_type": G5, "availability_zone": "us-west-2d"}, "zone_does_not_offer_type", "/availability_zone"),
        ({"instance_type": CPU, "interface_mode": "efa-only"}, "interface_mode_without_efa", "/interface_mode"),
    ],
)
async def test_a_finding_names_the_field_and_what_to_do(
    api: httpx2.AsyncClient, question: dict[str, Any], code: str, field: str
) -> None:
    report = await ask(api, **question)
    found = {(f["code"], f["field"]): f for f in report["findings"]}
    assert (code, field) in found, report["findings"]
    assert found[(code, field)]["severity"] == "blocking"
    assert found[(code, field)]["remedy"]
    assert report["possible"] is False


async def test_what_can_be_had_has_no_blocking_finding(api: httpx2.AsyncClient) -> None:
    question = {"instance_type": G5, "availability_zone": "us-west-2a", "instance_count": 2}
    report = await ask(api, **question, capacity_type="on_demand")
    assert report["possible"] is True, report["findings"]


async def test_throttling_is_waited_out_by_reads(api: httpx2.AsyncClient, sandbox: Sandbox) -> None:
    sandbox.world.faults.add({"kind": "throttling", "service": "sagemaker", "count": 1})
    assert (await ask(api, instance_type=G5))["items"]
    assert sandbox.world.faults.list() == []
