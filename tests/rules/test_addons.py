"""Health of add-ons, values of the chart, specs."""

from __future__ import annotations

from typing import Any

import pytest

from instantstart.addons import plan, rules
from instantstart.core.plan import critical_path_seconds


def addon(status: str, *codes: str) -> dict[str, Any]:
    issues = [{"code": c, "message": f"{c} happened"} for c in codes]
    return {"addonName": "coredns", "status": status, "health": {"issues": issues}}


@pytest.mark.parametrize(
    ("found", "nodes", "health"),
    [
        (addon("ACTIVE"), 0, "healthy"),
        (addon("CREATING"), 0, "changing"),
        (addon("DEGRADED", "InsufficientNumberOfReplicas"), 0, "waiting_for_nodes"),
        (addon("DEGRADED", "InsufficientNumberOfReplicas"), 1, "degraded"),
        (addon("DEGRADED", "InsufficientNumberOfReplicas", "AccessDenied"), 0, "degraded"),
        (addon("DEGRADED"), 0, "degraded"),
        (addon("CREATING", "InsufficientNumberOfReplicas"), 0, "waiting_for_nodes"),
        (addon("CREATE_FAILED", "ConfigurationConflict"), 0, "failed"),
        (addon("UPDATE_FAILED"), 0, "degraded"),
    ],
)
def test_health(found: dict[str, Any], nodes: int, health: str) -> None:
    assert rules.health(found, schedulable_nodes=nodes) == health


def test_the_default_version_is_the_one_for_this_kubernetes() -> None:
    versions = [
        {"addonVersion": "v2", "compatibilities": [{"clusterVersion": "1.34", "defaultVersion": False}]},
        {"addonVersion": "v1", "compatibilities": [{"clusterVersion": "1.34", "defaultVersion": True}]},
    ]
    assert rules.default_version(versions, "1.34") == "v1"
    assert rules.default_version(versions, "1.35") == "v2"
    assert rules.default_version([], "1.34") is None


def test_chart_values_know_new_types() -> None:
    values = rules.chart_values("eu-west-1")
    assert values["global"] == {"region": "eu-west-1"}
    efa = values["aws-efa-k8s-device-plugin"]["supportedInstanceLabels"]["values"]
    assert "ml.p6-b300.48xlarge" in efa and "ml.g5.xlarge" not in efa and "ml.trn1.32xlarge" in efa
    terms = values["nvidia-device-plugin"]["affinity"]["nodeAffinity"]
    gpus = terms["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"][0]["matchExpressions"][0]
    assert "ml.g7e.48xlarge" in gpus["values"] and "ml.trn1.32xlarge" not in gpus["values"]
    assert values["cert-manager"] == {"enabled": False}


def test_nodes_that_take_pods() -> None:
    ready = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
    assert rules.schedulable(ready)
    assert not rules.schedulable(ready | {"spec": {"unschedulable": True}})
    assert not rules.schedulable(ready | {"spec": {"taints": [{"key": "x", "effect": "NoSchedule"}]}})
    assert not rules.schedulable({"status": {}})


def test_what_workloads_lack() -> None:
    meta = {"namespace": "n", "name": "w"}
    daemon = {"metadata": meta, "status": {"desiredNumberScheduled": 2, "numberReady": 1}}
    assert rules.unready(daemon) == "n/w has 1 of 2 pods ready"
    assert rules.unready({"metadata": meta, "status": {"desiredNumberScheduled": 0, "numberReady": 0}}) is None
    deployment = {"metadata": meta, "spec": {"replicas": 1}, "status": {}}
    assert rules.unready(deployment) == "n/w has 0 of 1 pods ready"


def test_specs_make_a_graph() -> None:
    core = plan.core_specs("demo", eks_cluster="eks-cluster-demo", needs=[])
    more = plan.dependency_specs("demo", eks_cluster="eks-cluster-demo", region="us-west-2", needs=[core[-1].name])
    verify = plan.verify_spec("demo", eks_cluster="eks-cluster-demo", needs=[more[-1].name])
    storage = plan.storage_addon_specs("demo", eks_cluster="eks-cluster-demo", needs=[])
    assert critical_path_seconds([*core, *more, verify, *storage]) > 0
    assert [s.name for s in core] == ["request_core_addons", "await_core_addons"]
    assert [s.name for s in more] == ["request_dependency_addons", "ensure_dependency_chart", "await_dependencies"]
    assert [s.name for s in storage] == ["request_storage_addon", "await_storage_addon"]
    assert storage[0].params["rerun"] == ["request_storage_addon", "await_storage_addon"]
