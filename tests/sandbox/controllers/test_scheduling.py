"""Where pods go, and the scheduler's words when they go nowhere."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sandbox.controllers.stage import Stage, condition


@pytest.fixture
def stage() -> Stage:
    found = Stage()
    for number in (1, 2, 3):
        found.node(number, "ml.c5.xlarge")
    found.wait(60)
    return found


def refusal(stage: Stage, name: str) -> str:
    return str(condition(stage.get("pods", name), "PodScheduled")["message"])


def container(**resources: str) -> list[dict[str, Any]]:
    return [{"name": "main", "image": "busybox:1.36", "resources": {"requests": resources, "limits": resources}}]


def test_without_nodes() -> None:
    stage = Stage()
    stage.pod("lonely")
    assert refusal(stage, "lonely") == "no nodes available to schedule pods"
    assert stage.messages("lonely", "FailedScheduling") == ["no nodes available to schedule pods"]
    stage.node()
    stage.wait(90)
    assert stage.get("pods", "lonely")["status"]["phase"] == "Running"


def test_what_is_missing_is_named(stage: Stage) -> None:
    stage.pod("gpu", containers=container(**{"nvidia.com/gpu": "1"}))
    assert refusal(stage, "gpu") == (
        "0/3 nodes are available: 3 Insufficient nvidia.com/gpu. no new claims to deallocate, preemption: "
        "0/3 nodes are available: 3 No preemption victims found for incoming pod."
    )
    stage.pod("big", containers=container(cpu="64", memory="1Ti"))
    assert "3 Insufficient cpu, 3 Insufficient memory" in refusal(stage, "big")
    stage.pod("elsewhere", nodeSelector={"zone": "moon"})
    assert refusal(stage, "elsewhere").startswith(
        "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector."
    )
    assert refusal(stage, "elsewhere").endswith("3 Preemption is not helpful for scheduling.")


def test_a_claim_that_is_not_bound(stage: Stage) -> None:
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
    stage.pod("waiting", volumes=[volume])
    assert 'persistentvolumeclaim "data" not found' in refusal(stage, "waiting")
    claim = {"accessModes": ["ReadWriteMany"], "storageClassName": "", "resources": {"requests": {"storage": "1Gi"}}}
    stage.create("persistentvolumeclaims", {"metadata": {"name": "data", "namespace": "default"}, "spec": claim})
    stage.wait(2)
    assert "pod has unbound immediate PersistentVolumeClaims" in refusal(stage, "waiting")


def test_taints_keep_away_and_tolerations_let_in(stage: Stage) -> None:
    tainted = {"labels": {}, "taints": [{"Key": "dedicated", "Value": "ml", "Effect": "NoSchedule"}]}
    for number in (1, 2, 3):
        stage.node(number, "ml.c5.xlarge", kubernetes_config=tainted)
    stage.pod("refused")
    assert "3 node(s) had untolerated taint {dedicated: ml}" in refusal(stage, "refused")
    stage.pod("let-in", tolerations=[{"key": "dedicated", "operator": "Equal", "value": "ml", "effect": "NoSchedule"}])
    assert stage.get("pods", "let-in")["spec"]["nodeName"]


def test_room_that_becomes_free_is_used(stage: Stage) -> None:
    for number in range(3):
        stage.pod(f"first-{number}", containers=container(cpu="3"))
    stage.pod("second", containers=container(cpu="3"))
    assert "3 Insufficient cpu" in refusal(stage, "second")
    stage.wait(10)
    stage.kube.delete("eks-cluster-demo", "pods", "default", "first-1")
    stage.wait(40)
    assert stage.get("pods", "second")["status"]["phase"] == "Running"


def test_too_many_pods(stage: Stage) -> None:
    for number in range(45):
        stage.pod(f"small-{number}")
    left = [p for p in stage.all("pods", "default") if not p["spec"].get("nodeName")]
    assert left
    assert "3 Too many pods" in condition(left[0], "PodScheduled")["message"]


def test_spread_and_anti_affinity(stage: Stage) -> None:
    selector = {"matchLabels": {"app": "web"}}
    term = {"labelSelector": selector, "topologyKey": "kubernetes.io/hostname"}
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    spec = {"containers": container(cpu="10m"), "affinity": affinity}
    for number in range(4):
        body = {"metadata": {"name": f"web-{number}", "labels": {"app": "web"}}, "spec": spec}
        stage.create("pods", body)
    nodes = [p["spec"].get("nodeName") for p in stage.all("pods", "default")]
    assert len({n for n in nodes if n}) == 3
    assert "3 node(s) didn't match pod anti-affinity rules" in refusal(stage, "web-3")
    spread = {"maxSkew": 1, "topologyKey": "rack", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}
    stage.pod("racked", topologySpreadConstraints=[spread])
    assert "didn't match pod topology spread constraints (missing required label)" in refusal(stage, "racked")
