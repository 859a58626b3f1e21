"""The Kubernetes client over the wire: paths, apply, paging, tokens, errors."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from instantstart.kube.client import Kube
from instantstart.kube.errors import KubeProblem
from tests.aws.scripted import Answer, Asked, Scripted, scripted

PREFIX = "/k8s/eks-cluster-demo"
APIS: dict[str, Any] = {
    "/api/v1": {
        "resources": [
            {"name": "pods", "kind": "Pod", "namespaced": True},
            {"name": "pods/log", "kind": "Pod", "namespaced": True},
            {"name": "nodes", "kind": "Node", "namespaced": False},
            {"name": "configmaps", "kind": "ConfigMap", "namespaced": True},
        ]
    },
    "/apis/apps": {"preferredVersion": {"groupVersion": "apps/v1"}},
    "/apis/apps/v1": {"resources": [{"name": "deployments", "kind": "Deployment", "namespaced": True}]},
}


def discovery(asked: Asked) -> Answer | None:
    found = APIS.get(asked.path.removeprefix(PREFIX))
    return Answer(body=found) if found and asked.method == "GET" else None


@pytest.fixture
async def server() -> AsyncIterator[Scripted]:
    async with scripted() as running:
        running.rule = discovery
        yield running


@pytest.fixture
async def kube(server: Scripted) -> AsyncIterator[Kube]:
    made: list[bool] = []

    async def token(renew: bool) -> str:
        made.append(renew)
        return "fresh" if any(made) else "stale"

    client = Kube(server=f"{server.url}{PREFIX}/", ca=None, token=token, timeout=2.0)
    yield client
    await client.close()


def refusal(status: int, reason: str, message: str = "no", **details: Any) -> Answer:
    return Answer(status, {"kind": "Status", "reason": reason, "message": message, "details": details})


def last(server: Scripted) -> Asked:
    return server.asked[-1]


async def test_paths_keep_the_prefix_and_the_namespace(server: Scripted, kube: Kube) -> None:
    server.answers = [Answer(body={"metadata": {"name": "d"}})]
    assert await kube.get("deployments.apps", "d", "ns") == {"metadata": {"name": "d"}}
    assert last(server).path == f"{PREFIX}/apis/apps/v1/namespaces/ns/deployments/d"


async def test_discovery_is_asked_once(server: Scripted, kube: Kube) -> None:
    for _ in range(3):
        await kube.get("nodes", "n")
    assert sum(a.path.endswith("/api/v1") for a in server.asked) == 1


async def test_what_is_not_there(server: Scripted, kube: Kube) -> None:
    server.answers = [refusal(404, "NotFound")] * 3
    assert await kube.get("pods", "p", "ns") is None
    assert await kube.delete("pods", "p", "ns") is False
    assert await kube.list("jobs.batch") == []


async def test_lists_are_paged(server: Scripted, kube: Kube) -> None:
    server.answers = [
        Answer(body={"items": [{"a": 1}], "metadata": {"continue": "t"}}),
        Answer(body={"items": [{"a": 2}], "metadata": {}}),
    ]
    assert await kube.list("pods", "ns", labels="app=x", fields="status.phase=Running") == [{"a": 1}, {"a": 2}]
    assert last(server).query == {
        "limit": "500",
        "labelSelector": "app=x",
        "fieldSelector": "status.phase=Running",
        "continue": "t",
    }


async def test_apply_is_server_side(server: Scripted, kube: Kube) -> None:
    obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "ns"}, "data": {"a": "b"}}
    server.answers = [Answer(body=obj)]
    assert await kube.apply(obj) == obj
    asked = last(server)
    assert (asked.method, asked.path) == ("PATCH", f"{PREFIX}/api/v1/namespaces/ns/configmaps/c")
    assert asked.headers["content-type"] == "application/apply-patch+yaml"
    assert asked.query == {"fieldManager": "instantstart", "force": "true"} and asked.json == obj


async def test_a_refused_token_is_renewed_once(server: Scripted, kube: Kube) -> None:
    server.answers = [refusal(401, "Unauthorized"), Answer(body={"ok": True})]
    assert await kube.request("GET", "/version") == {"ok": True}
    assert [a.headers["authorization"] for a in server.asked] == ["Bearer stale", "Bearer fresh"]
    server.answers = [refusal(401, "Unauthorized")] * 2
    with pytest.raises(KubeProblem) as error:
        await kube.request("GET", "/version")
    assert error.value.forbidden and error.value.code == "kube_unauthenticated"


@pytest.mark.parametrize(
    ("answer", "code", "transient", "lost"),
    [
        (refusal(403, "Forbidden"), "kube_denied", False, False),
        (refusal(409, "AlreadyExists"), "kube_conflict", False, False),
        (refusal(409, "Conflict", "the object has been modified"), "kube_conflict", True, False),
        (refusal(409, "Conflict", 'conflict with "kubectl": .data.a'), "kube_conflict", False, False),
        (refusal(429, "TooManyRequests"), "kube_busy", True, False),
        (refusal(500, "InternalError"), "kube_unavailable", True, True),
        (refusal(503, "ServiceUnavailable"), "kube_unavailable", True, False),
        (Answer(502, b"<html>bad gateway</html>"), "kube_unavailable", True, True),
        (Answer(hang_up=True), "kube_answer_lost", False, True),
    ],
)
async def test_errors_of_a_change(
    server: Scripted, kube: Kube, answer: Answer, code: str, transient: bool, lost: bool
) -> None:
    server.answers = [answer]
    with pytest.raises(KubeProblem) as error:
        await kube.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "n"}})
    assert (error.value.code, error.value.transient, error.value.lost) == (code, transient, lost)


async def test_a_refused_object_names_its_fields(server: Scripted, kube: Kube) -> None:
    causes = [{"field": "spec.replicas", "reason": "FieldValueInvalid", "message": "must be positive"}]
    server.answers = [refusal(422, "Invalid", "invalid", causes=causes)]
    with pytest.raises(KubeProblem) as error:
        await kube.patch("deployments.apps", "d", {"spec": {"replicas": -1}}, "ns")
    assert [e.field for e in error.value.problem.errors] == ["spec.replicas"]


async def test_a_read_without_answer_may_be_tried_again(server: Scripted, kube: Kube) -> None:
    server.answers = [Answer(hang_up=True)]
    with pytest.raises(KubeProblem) as error:
        await kube.request("GET", "/version")
    assert error.value.transient and not error.value.lost
    nobody = Kube(server="http://127.0.0.1:9", ca=None, token=kube.token)
    with pytest.raises(KubeProblem) as refused:
        await nobody.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}})
    assert refused.value.transient and not refused.value.lost and nobody.broken
    await nobody.close()


async def test_logs_are_text(server: Scripted, kube: Kube) -> None:
    server.answers = [Answer(body=b"one\ntwo \xff\n", headers={"content-type": "text/plain"})]
    assert await kube.logs("ns", "p", tail=2) == "one\ntwo \ufffd\n"
    assert last(server).query == {"tailLines": "2"}


async def test_a_slow_answer_to_a_change_is_lost(server: Scripted, kube: Kube) -> None:
    server.answers = [Answer(delay=asyncio.Event())]
    kube._client.timeout = 0.2
    with pytest.raises(KubeProblem) as error:
        await kube.request("DELETE", "/api/v1/namespaces/x")
    assert error.value.lost
