"""Nodes join, become Ready with their network, announce devices, fail, and go."""

from __future__ import annotations

from tests.sandbox.controllers.stage import CLUSTER, Stage, condition

PLUGIN = "nvcr.io/nvidia/k8s-device-plugin:v0.16.1"


def daemon(name: str, image: str) -> dict[str, object]:
    labels = {"app": name}
    spec = {"containers": [{"name": name, "image": image}], "tolerations": [{"operator": "Exists"}]}
    return {
        "metadata": {"name": name, "namespace": "kube-system"},
        "spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": spec}},
    }


def test_a_node_joins_not_ready_and_becomes_ready_with_its_network() -> None:
    stage = Stage()
    name = stage.node(7, kubernetes_config={"labels": {"team": "nlp"}, "taints": []})
    node = stage.get("nodes", name, None)
    assert node["spec"]["providerID"] == ("aws:///usw2-az1/sagemaker/cluster/hyperpod-abcdef123456-i-00000000000000007")
    labels = node["metadata"]["labels"]
    assert labels["sagemaker.amazonaws.com/node-health-status"] == "Schedulable"
    assert labels["node.kubernetes.io/instance-type"] == "ml.g5.8xlarge"
    assert labels["sagemaker.amazonaws.com/instance-group-name"] == "workers"
    assert labels["topology.kubernetes.io/zone"] == "us-west-2a"
    assert labels["team"] == "nlp"
    assert condition(node, "Ready")["reason"] == "KubeletNotReady"
    assert "cni plugin not initialized" in condition(node, "Ready")["message"]
    assert {t["effect"] for t in node["spec"]["taints"]} == {"NoSchedule", "NoExecute"}
    stage.wait(60)
    node = stage.get("nodes", name, None)
    assert condition(node, "Ready")["status"] == "True"
    assert "taints" not in node["spec"]
    assert stage.messages(name, "NodeReady") == [f"Node {name} status is now: NodeReady"]


def test_without_vpc_cni_a_node_stays_not_ready() -> None:
    stage = Stage(addons=("kube-proxy",))
    name = stage.node()
    stage.wait(600)
    assert condition(stage.get("nodes", name, None), "Ready")["status"] == "False"


def test_devices_are_there_when_their_plugins_run() -> None:
    stage = Stage()
    name = stage.node(1, "ml.p5.48xlarge")
    stage.wait(60)
    assert "nvidia.com/gpu" not in stage.get("nodes", name, None)["status"]["capacity"]
    stage.create("daemonsets.apps", daemon("gpu", PLUGIN))
    stage.create("daemonsets.apps", daemon("efa", "x/eks/aws-efa-k8s-device-plugin:v0.5.13"))
    stage.wait(30)
    status = stage.get("nodes", name, None)["status"]
    assert status["allocatable"]["nvidia.com/gpu"] == "8"
    assert status["allocatable"]["vpc.amazonaws.com/efa"] == "32"
    assert status["allocatable"]["pods"] == "49"


def test_deep_checks_taint_a_node_until_they_are_over() -> None:
    stage = Stage()
    name = stage.node(1, status="DeepHealthCheckInProgress", deep_checks_pending=True)
    stage.wait(60)
    node = stage.get("nodes", name, None)
    health = "sagemaker.amazonaws.com/node-health-status"
    assert node["spec"]["taints"] == [{"key": health, "value": "Unschedulable", "effect": "NoSchedule"}]
    assert node["metadata"]["labels"]["sagemaker.amazonaws.com/deep-health-check-status"] == "InProgress"
    stage.node(1)
    stage.wait(1)
    node = stage.get("nodes", name, None)
    assert "taints" not in node["spec"]
    assert node["metadata"]["labels"]["sagemaker.amazonaws.com/deep-health-check-status"] == "Passed"
    assert node["metadata"]["labels"][health] == "Schedulable"


def test_a_removed_node_takes_its_pods_along() -> None:
    stage = Stage()
    name = stage.node()
    stage.wait(60)
    stage.world.store.delete("sagemaker.node", "hp-cluster-demo/i-00000000000000001")
    assert stage.find("nodes", name, None) is None
    stage.wait(5)
    assert [p for p in stage.all("pods") if p["spec"].get("nodeName") == name] == []


def test_a_node_that_stops_reporting_loses_its_pods_after_five_minutes_and_comes_back() -> None:
    stage = Stage()
    name = stage.node()
    stage.wait(60)
    stage.pod("job", tolerations=[])
    stage.wait(10)
    fault = stage.world.faults.add({"kind": "node_not_ready", "match": name})
    stage.wait(1)
    node = stage.get("nodes", name, None)
    assert condition(node, "Ready")["status"] == "Unknown"
    assert condition(node, "Ready")["message"] == "Kubelet stopped posting node status."
    assert condition(stage.get("pods", "job"), "Ready")["status"] == "False"
    stage.wait(310)
    assert "deletionTimestamp" in stage.get("pods", "job")["metadata"]
    stage.world.faults.remove(fault["id"])
    stage.wait(40)
    assert condition(stage.get("nodes", name, None), "Ready")["status"] == "True"
    assert stage.find("pods", "job") is None


def test_cordoned_by_hand_stays_cordoned() -> None:
    stage = Stage()
    name = stage.node()
    stage.wait(60)
    node = stage.get("nodes", name, None)
    stage.kube.update(CLUSTER, "nodes", {**node, "spec": {**node["spec"], "unschedulable": True}})
    stage.wait(1)
    taints = stage.get("nodes", name, None)["spec"]["taints"]
    assert [t["key"] for t in taints] == ["node.kubernetes.io/unschedulable"]
