"""The short form leaves out what is null, empty or quiet, and nothing else."""

from __future__ import annotations

from typing import Any

from instantstart.faces.minimal import minimal
from tests.faces.conftest import Running, service, static
from tests.faces.operations import begin, stages

__all__ = ["service", "stages", "static"]


def operation(terminal: bool, *states: str) -> dict[str, Any]:
    rows = [
        {"name": f"s{n}", "step": "eks", "title": "T", "state": s, "message": None, "history": [1]}
        for n, s in enumerate(states)
    ]
    return {
        "id": "op",
        "terminal": terminal,
        "stages": rows,
        "problem": None,
        "intent": {"tag": "x"},
        "left_behind": [],
    }


def test_a_wait_names_only_the_stages_at_work() -> None:
    body = {"operation": operation(False, "succeeded", "running", "pending", "failed"), "reason": "timeout"}
    short = minimal("operation_wait", body)
    assert [s["state"] for s in short["operation"]["stages"]] == ["running", "failed"]
    assert short["operation"]["stages"][0] == {"name": "s1", "step": "eks", "title": "T", "state": "running"}
    ended = {"operation": operation(True, "succeeded", "failed"), "reason": "terminal", "next_poll_seconds": None}
    assert [s["state"] for s in minimal("operation_wait", ended)["operation"]["stages"]] == ["succeeded", "failed"]


def test_zero_and_false_are_not_empty() -> None:
    assert minimal("x", {"a": 0, "b": False, "c": None, "d": [], "e": {"f": ""}, "g": [0]}) == {
        "a": 0,
        "b": False,
        "g": [0],
    }


async def test_rest_gives_it_on_request(service: Running, stages: None) -> None:
    operation_id = await begin(service, "await_never")
    async with service.client() as client:
        path = f"/api/v1/operations/{operation_id}/wait?timeout_seconds=0"
        long = await client.get(path)
        short = await client.get(path, headers={"prefer": "return=minimal"})
        assert short.headers["preference-applied"] == "return=minimal"
        assert len(short.content) < len(long.content)
        assert set(short.json()["operation"]) < set(long.json()["operation"])
        problem = await client.get("/api/v1/operations/op-none", headers={"prefer": "return=minimal"})
        assert problem.json()["errors"] == []
