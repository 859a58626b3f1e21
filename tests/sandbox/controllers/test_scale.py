"""A thousand nodes: what is counted is work per node, not milliseconds."""

from __future__ import annotations

import pytest

from tests.sandbox.controllers.stage import Stage, condition


def writes(nodes: int) -> int:
    stage = Stage(addons=("vpc-cni", "kube-proxy"))
    labels = {"app": "agent"}
    spec = {"containers": [{"name": "agent", "image": "busybox:1.36"}]}
    template = {"metadata": {"labels": labels}, "spec": spec}
    body = {"metadata": {"name": "agent", "namespace": "default"}}
    stage.create("daemonsets.apps", {**body, "spec": {"selector": {"matchLabels": labels}, "template": template}})
    before = stage.world.store.db.total_changes
    for number in range(nodes):
        stage.node(number + 1)
    stage.wait(120)
    assert stage.get("daemonsets.apps", "agent")["status"]["numberReady"] == nodes
    assert all(condition(n, "Ready")["status"] == "True" for n in stage.all("nodes"))
    return stage.world.store.db.total_changes - before


def test_work_grows_with_the_nodes_and_no_faster() -> None:
    assert writes(80) < 4 * writes(20) * 1.15


@pytest.mark.slow
def test_a_thousand_nodes_settle_and_then_rest() -> None:
    stage = Stage(addons=("vpc-cni", "kube-proxy"))
    for number in range(1000):
        stage.node(number + 1)
    stage.wait(120)
    assert all(condition(n, "Ready")["status"] == "True" for n in stage.all("nodes"))
    stage.wait(8000)
    before = stage.world.store.db.total_changes
    stage.wait(86400)
    assert stage.world.store.db.total_changes - before < 100
