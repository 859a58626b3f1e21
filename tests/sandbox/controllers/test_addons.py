"""Add-ons: their workloads come and go with the documents of EKS, and tell how they are."""

from __future__ import annotations

import pytest

from instantstart_sandbox.controllers.addon_table import ADDONS
from tests.sandbox.controllers.stage import CLUSTER, CORE, Stage


def health(stage: Stage, addon: str) -> dict[str, object]:
    return stage.world.store.get("kube.addon_health", f"{CLUSTER}/{addon}") or {}


def test_deployments_lack_replicas_until_there_is_a_node() -> None:
    stage = Stage()
    stage.wait(300)
    assert health(stage, "coredns") == {
        "healthy": False,
        "code": "InsufficientNumberOfReplicas",
        "message": "The add-on is unhealthy because it doesn't have the desired number of replicas.",
    }
    assert health(stage, "vpc-cni")["healthy"] is True
    stage.node()
    stage.wait(90)
    assert [health(stage, a)["healthy"] for a in CORE] == [True] * 4
    assert stage.get("services", "kube-dns", "kube-system")["spec"]["clusterIP"] == "10.100.0.10"


@pytest.mark.parametrize("addon", sorted(ADDONS))
def test_every_addon_gets_well_on_nodes_and_leaves_nothing_running(addon: str) -> None:
    stage = Stage(addons=("vpc-cni", "kube-proxy"))
    stage.node(1)
    stage.node(2)
    if addon not in ("vpc-cni", "kube-proxy"):
        stage.addon(addon)
    stage.wait(180)
    assert health(stage, addon)["healthy"] is True
    stage.addon(addon, status="DELETING")
    stage.wait(60)
    left = [p["metadata"]["name"] for p in stage.all("pods")]
    assert all(name.startswith(("aws-node", "kube-proxy")) for name in left)
    assert health(stage, addon) == {}


def test_configuration_is_followed() -> None:
    stage = Stage()
    stage.addon("coredns", configurationValues='{"replicaCount": 3}')
    assert stage.get("deployments.apps", "coredns", "kube-system")["spec"]["replicas"] == 3


def test_preserved_workloads_stay() -> None:
    stage = Stage()
    stage.addon("coredns", status="DELETING", preserve=True)
    stage.wait(5)
    assert stage.get("deployments.apps", "coredns", "kube-system")


def test_a_cluster_that_goes_leaves_no_documents() -> None:
    stage = Stage()
    stage.node()
    stage.wait(60)
    stage.kube.delete_cluster(CLUSTER)
    stage.wait(4000)
    kinds = stage.world.store.kinds()
    assert not [k for k in kinds if k.startswith("kube.") and k != "kube.addresses"]
