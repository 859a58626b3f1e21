"""Clusters from the routes to the simulated AWS: look, plan, bad input all at once, begin, stop with the right words."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest

from instantstart.core.plan import StageSpec, critical_path_seconds
from instantstart.operations.stage import REGISTRY
from instantstart_sandbox.assembly import Sandbox

GOOD: dict[str, Any] = {
    "tag": "demo",
    "availability_zone": "us-west-2a",
    "instance_type": "ml.g5.8xlarge",
    "instance_count": 2,
    "capacity_type": "on_demand",
}
P5 = {**GOOD, "instance_type": "ml.p5.48xlarge"}
PLAN = "arn:aws:sagemaker:us-west-2:123456789012:training-plan/p5-plan"


async def create(api: httpx2.AsyncClient, body: Any, **headers: str) -> httpx2.Response:
    return await api.post("/clusters", json=body, headers=headers)


def mutations(sandbox: Sandbox) -> list[str]:
    return [c["operation"] for c in sandbox.world.requests.page()["items"] if c["mutating"]]


async def ended(api: httpx2.AsyncClient, sandbox: Sandbox, operation: str) -> dict[str, Any]:
    """The operation at its end; the clock is moved on while it waits."""
    for _ in range(60):
        view = (await api.get(f"/operations/{operation}/wait", params={"timeout_seconds": 0.5})).json()["operation"]
        if view["terminal"]:
            found: dict[str, Any] = view
            return found
        await sandbox.world.timers.advance(10)
    raise AssertionError(view)


async def test_an_empty_account(api: httpx2.AsyncClient) -> None:
    assert (await api.get("/clusters")).json() == {"items": [], "selected": None}
    assert (await api.get("/selection")).json() == {"cluster": None}
    for path in ("/clusters/nobody", "/clusters/nobody/dependencies", "/clusters/nobody/storage"):
        answer = await api.get(path)
        assert (answer.status_code, answer.json()["code"]) == (404, "cluster_not_found")
    answer = await api.put("/selection", json={"cluster": "nobody"})
    assert answer.json()["code"] == "cluster_not_found"


async def test_a_dry_run_answers_the_whole_plan_and_begins_nothing(api: httpx2.AsyncClient, sandbox: Sandbox) -> None:
    plan = (await api.post("/clusters", params={"dry_run": True}, json=GOOD)).json()
    assert plan["can_start"] is True and plan["findings"] == []
    assert list(dict.fromkeys(s["step"] for s in plan["stages"])) == [
        "eks",
        "select",
        "dependencies",
        "hyperpod",
        "storage",
    ]
    stages = [StageSpec.model_validate(s) for s in plan["stages"]]
    assert critical_path_seconds(stages) == plan["typical_seconds"]
    assert all(REGISTRY[s.definition].version == s.version for s in stages)
    kinds = {o["kind"] for o in plan["objects"]}
    assert {"AWS::EC2::VPC", "AWS::EKS::Cluster", "AWS::SageMaker::Cluster", "PersistentVolumeClaim"} <= kinds
    forms = plan["commands"]
    assert "curl" in forms["curl"] and forms["mcp"].startswith("cluster_create ")
    assert any("create-stack" in line for line in forms["aws"]) and forms["kubectl"]
    assert mutations(sandbox) == []
    assert (await api.get("/operations")).json()["items"] == []


@pytest.mark.parametrize(
    ("body", "errors"),
    [
        ({**GOOD, "colour": "red"}, {"/colour"}),
        ({**GOOD, "tag": "UPPER"}, {"/tag"}),
        ({**GOOD, "tag": "a" * 21}, {"/tag"}),
        ({**GOOD, "tag": "../x"}, {"/tag"}),
        ({**GOOD, "tag": ""}, {"/tag"}),
        ({**GOOD, "instance_count": "two"}, {"/instance_count"}),
        ({**GOOD, "instance_count": 0}, {"/instance_count"}),
        ({**GOOD, "instance_count": -1}, {"/instance_count"}),
        ({**GOOD, "instance_count": 1_000_000}, {"/instance_count"}),
        ({**GOOD, "instance_count": 500}, {"/instance_count"}),
        ({**GOOD, "instance_type": "g5.8xlarge"}, {"/instance_type"}),
        ({**GOOD, "availability_zone": "us-west-2z"}, {"/availability_zone"}),
        ({**GOOD, "availability_zone": "us-west-2d"}, {"/availability_zone"}),
        ({**GOOD, "capacity_type": "training_plan"}, {"/training_plan"}),
        ({**P5, "training_plan": PLAN}, {"/capacity_type", "/availability_zone"}),
        ({**P5, "capacity_type": "training_plan", "training_plan": PLAN}, {"/availability_zone"}),
        (
            {
                **P5,
                "capacity_type": "training_plan",
                "training_plan": f"{PLAN}-ended",
                "availability_zone": "us-west-2c",
            },
            {"/training_plan"},
        ),
        ({**GOOD, "instance_type": "ml.c5.xlarge", "interface_mode": "efa-only"}, {"/interface_mode"}),
        ({**GOOD, "network": {"cidr": "10.0.0.0/28"}}, {"/network/cidr"}),
        ({**GOOD, "network": {"cidr": "not a network"}}, {"/network/cidr"}),
        ({**GOOD, "network": {"vpc_id": "vpc-0123456789abcdef0"}}, {"/network/vpc_id"}),
        (
            {**GOOD, "tag": "UPPER", "instance_count": 0, "colour": "red", "availability_zone": "mars-1a"},
            {"/tag", "/instance_count", "/colour", "/availability_zone"},
        ),
        ({}, {"/tag", "/availability_zone", "/instance_type", "/instance_count", "/capacity_type"}),
    ],
)
async def test_bad_input_is_one_answer_that_names_every_bad_field(
    api: httpx2.AsyncClient, sandbox: Sandbox, body: Any, errors: set[str]
) -> None:
    answer = await create(api, body)
    assert answer.status_code == 422, answer.text
    assert errors <= {e["field"] for e in answer.json()["errors"]}, answer.text
    if len(errors) == 1:
        assert {e["field"] for e in answer.json()["errors"]} == errors, answer.text
    assert mutations(sandbox) == []
    assert (await api.get("/operations")).json()["items"] == []


async def test_without_stacks_a_creation_stops_at_the_network_with_the_words_of_aws(
    api: httpx2.AsyncClient, sandbox: Sandbox
) -> None:
    first = await create(api, GOOD, **{"Idempotency-Key": "one"})
    assert first.status_code == 202
    again = await create(api, GOOD, **{"Idempotency-Key": "one"})
    assert again.json()["id"] == first.json()["id"]
    other = await create(api, {**GOOD, "instance_count": 3}, **{"Idempotency-Key": "one"})
    assert other.json()["code"] == "idempotency_key_reused"
    view = await ended(api, sandbox, first.json()["id"])
    states = {s["name"]: s["state"] for s in view["stages"]}
    assert view["state"] == "failed" and view["problem"]["aws"]["operation"] == "create_stack"
    assert states["request_network_stack"] == "failed" and states["request_eks_cluster"] == "pending"
    shown = (await api.get("/clusters")).json()["items"]
    assert [(c["tag"], c["attention"][0]["code"]) for c in shown] == [("demo", "operation_failed")]
    retried = await api.post(f"/operations/{view['id']}/retry", json={})
    assert retried.status_code == 202


async def test_the_tag_is_taken_while_another_intent_is_at_work(api: httpx2.AsyncClient, sandbox: Sandbox) -> None:
    sandbox.world.faults.add({"kind": "throttling", "service": "cloudformation", "operation": "CreateStack"})
    first = (await create(api, GOOD)).json()
    assert (await create(api, GOOD)).json()["id"] == first["id"]
    other = await create(api, {**GOOD, "instance_count": 1})
    assert (other.status_code, other.json()["code"]) == (409, "tag_in_use")
    assert other.json()["data"]["operation"] == first["id"]
    cancelled = await api.post(f"/operations/{first['id']}/cancel")
    assert cancelled.status_code == 202
    assert (await ended(api, sandbox, first["id"]))["state"] == "cancelled"


async def test_a_selection_is_the_callers_own(api: httpx2.AsyncClient, sandbox: Sandbox) -> None:
    view = await ended(api, sandbox, (await create(api, GOOD)).json()["id"])
    assert (await api.put("/selection", json={"cluster": "demo"})).json() == {"cluster": "demo"}
    assert (await api.get("/clusters")).json()["selected"] == "demo"
    assert view["requested_by"]


async def test_a_deletion_wants_the_tag_typed(api: httpx2.AsyncClient) -> None:
    answer = await api.post("/clusters/demo/delete", json={"confirm": "dem"})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "/confirm")
    answer = await api.post("/clusters/demo/delete", json={"confirm": "demo"})
    assert (answer.status_code, answer.json()["unchanged"]) == (200, True)


async def test_if_match_is_compared_with_the_operations_revision(api: httpx2.AsyncClient, sandbox: Sandbox) -> None:
    view = await ended(api, sandbox, (await create(api, GOOD)).json()["id"])
    path = f"/operations/{view['id']}/retry"
    answer = await api.post(path, json={}, headers={"If-Match": '"1"'})
    assert (answer.status_code, answer.json()["code"]) == (412, "precondition_failed")
    assert (await api.post(path, json={}, headers={"If-Match": f'"{view["revision"]}"'})).status_code == 202
