"""Deployments, DaemonSets, StatefulSets, Jobs, ownership and namespaces."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sandbox.controllers.stage import CLUSTER, Stage, condition

Obj = dict[str, Any]


@pytest.fixture
def stage() -> Stage:
    found = Stage()
    for number in (1, 2, 3):
        found.node(number)
    found.wait(60)
    return found


def template(image: str = "nginx:1", **spec: Any) -> Obj:
    containers = [{"name": "main", "image": image}]
    return {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": containers, **spec}}


def workload(name: str, image: str = "nginx:1", **spec: Any) -> Obj:
    body = {"selector": {"matchLabels": {"app": "web"}}, "template": template(image), **spec}
    return {"metadata": {"name": name, "namespace": "default"}, "spec": body}


def script(text: str, policy: str = "Never") -> Obj:
    containers = [{"name": "main", "image": "busybox:1.36", "command": ["sh", "-c", text]}]
    return {"spec": {"containers": containers, "restartPolicy": policy}}


def job(name: str, text: str, **spec: Any) -> Obj:
    return {"metadata": {"name": name, "namespace": "default"}, "spec": {"template": script(text), **spec}}


def test_a_deployment_rolls_over_and_back(stage: Stage) -> None:
    stage.create("deployments.apps", workload("web", replicas=3))
    stage.wait(20)
    found = stage.get("deployments.apps", "web")
    assert found["status"]["availableReplicas"] == 3
    assert condition(found, "Available")["reason"] == "MinimumReplicasAvailable"
    assert condition(found, "Progressing")["reason"] == "NewReplicaSetAvailable"
    assert found["metadata"]["annotations"]["deployment.kubernetes.io/revision"] == "1"
    new = {**found, "spec": {**found["spec"], "template": template("nginx:2")}}
    stage.kube.update(CLUSTER, "deployments.apps", new)
    stage.wait(60)
    sets = {
        s["metadata"]["annotations"]["deployment.kubernetes.io/revision"]: s
        for s in stage.all("replicasets.apps", "default")
    }
    assert [sets[r]["spec"]["replicas"] for r in ("1", "2")] == [0, 3]
    assert {p["spec"]["containers"][0]["image"] for p in stage.all("pods", "default")} == {"nginx:2"}
    found = stage.get("deployments.apps", "web")
    assert found["status"]["updatedReplicas"] == 3
    assert "unavailableReplicas" not in found["status"]
    stage.kube.update(
        CLUSTER, "deployments.apps", {**found, "spec": {**found["spec"], "template": template("nginx:1")}}
    )
    stage.wait(60)
    assert stage.get("deployments.apps", "web")["metadata"]["annotations"]["deployment.kubernetes.io/revision"] == "3"
    assert len(stage.all("replicasets.apps", "default")) == 2


def test_a_deployment_that_gets_nowhere_says_so(stage: Stage) -> None:
    stage.world.faults.add({"kind": "image_pull", "match": "broken"})
    stage.create("deployments.apps", workload("web", "broken:1", replicas=2, progressDeadlineSeconds=60))
    stage.wait(90)
    found = condition(stage.get("deployments.apps", "web"), "Progressing")
    assert (found["status"], found["reason"]) == ("False", "ProgressDeadlineExceeded")


def test_scaling_and_deleting(stage: Stage) -> None:
    stage.create("deployments.apps", workload("web", replicas=4))
    stage.wait(10)
    found = stage.get("deployments.apps", "web")
    stage.kube.update(CLUSTER, "deployments.apps", {**found, "spec": {**found["spec"], "replicas": 1}})
    stage.wait(10)
    assert len(stage.all("pods", "default")) == 1
    stage.kube.delete(CLUSTER, "deployments.apps", "default", "web", propagation="Background")
    stage.wait(10)
    assert stage.all("pods", "default") == stage.all("replicasets.apps", "default") == []


def test_orphans_stay(stage: Stage) -> None:
    stage.create("deployments.apps", workload("web", replicas=1))
    stage.wait(10)
    stage.kube.delete(CLUSTER, "deployments.apps", "default", "web", propagation="Orphan")
    stage.wait(10)
    assert stage.find("deployments.apps", "web") is None
    left = stage.all("replicasets.apps", "default")
    assert len(left) == 1 and "ownerReferences" not in left[0]["metadata"]


def test_foreground_deletion_waits_for_the_pods(stage: Stage) -> None:
    body = workload("web", replicas=2)
    body["spec"]["template"]["spec"]["containers"][0]["command"] = ["sleep", "infinity"]
    stage.create("deployments.apps", body)
    stage.wait(10)
    stage.kube.delete(CLUSTER, "deployments.apps", "default", "web", propagation="Foreground")
    stage.wait(5)
    assert stage.find("deployments.apps", "web") is not None
    stage.wait(40)
    assert stage.find("deployments.apps", "web") is None
    assert stage.all("pods", "default") == []


def test_a_daemon_set_follows_nodes_and_its_template(stage: Stage) -> None:
    stage.create("daemonsets.apps", workload("agent"))
    stage.wait(10)
    assert stage.get("daemonsets.apps", "agent")["status"]["numberReady"] == 3
    stage.node(4)
    stage.wait(60)
    found = stage.get("daemonsets.apps", "agent")
    assert found["status"]["numberReady"] == 4
    stage.kube.update(CLUSTER, "daemonsets.apps", {**found, "spec": {**found["spec"], "template": template("nginx:2")}})
    stage.wait(5)
    ready = stage.get("daemonsets.apps", "agent")["status"]["numberReady"]
    assert ready >= 3
    stage.wait(60)
    found = stage.get("daemonsets.apps", "agent")
    assert found["status"]["updatedNumberScheduled"] == found["status"]["numberReady"] == 4


def test_a_stateful_set_goes_in_order(stage: Stage) -> None:
    stage.create("statefulsets.apps", workload("db", replicas=3, serviceName="db"))
    assert [p["metadata"]["name"] for p in stage.all("pods", "default")] == ["db-0"]
    stage.wait(20)
    assert stage.get("statefulsets.apps", "db")["status"]["readyReplicas"] == 3
    found = stage.get("statefulsets.apps", "db")
    stage.kube.update(CLUSTER, "statefulsets.apps", {**found, "spec": {**found["spec"], "replicas": 1}})
    stage.wait(10)
    assert [p["metadata"]["name"] for p in stage.all("pods", "default")] == ["db-0"]


def test_a_job_completes(stage: Stage) -> None:
    stage.create("jobs.batch", job("sum", "sleep 5; echo 42", ttlSecondsAfterFinished=100))
    stage.wait(3)
    assert stage.get("jobs.batch", "sum")["status"]["active"] == 1
    stage.wait(10)
    found = stage.get("jobs.batch", "sum")
    assert found["status"]["succeeded"] == 1 and "active" not in found["status"]
    assert [c["type"] for c in found["status"]["conditions"]] == ["SuccessCriteriaMet", "Complete"]
    assert condition(found, "Complete")["message"] == "Reached expected number of succeeded pods"
    assert found["status"]["completionTime"]
    pod = stage.all("pods", "default")[0]
    assert stage.log(pod["metadata"]["name"]) == ["42"]
    stage.wait(120)
    assert stage.find("jobs.batch", "sum") is None
    assert stage.all("pods", "default") == []


def test_a_job_that_fails_too_often(stage: Stage) -> None:
    stage.create("jobs.batch", job("bad", "exit 7", backoffLimit=2))
    stage.wait(200)
    found = stage.get("jobs.batch", "bad")
    assert found["status"]["failed"] == 3
    assert condition(found, "Failed")["reason"] == "BackoffLimitExceeded"
    assert condition(found, "Failed")["message"] == "Job has reached the specified backoff limit"
    assert stage.messages("bad", "BackoffLimitExceeded") == ["Job has reached the specified backoff limit"]


def test_a_job_past_its_deadline(stage: Stage) -> None:
    stage.create("jobs.batch", job("late", "sleep 1000", activeDeadlineSeconds=60))
    stage.wait(70)
    found = stage.get("jobs.batch", "late")
    assert condition(found, "Failed")["reason"] == "DeadlineExceeded"
    stage.wait(40)
    assert stage.all("pods", "default") == []


def test_an_indexed_job(stage: Stage) -> None:
    text = "echo rank $JOB_COMPLETION_INDEX"
    stage.create("jobs.batch", job("ranks", text, completions=3, parallelism=2, completionMode="Indexed"))
    stage.wait(20)
    found = stage.get("jobs.batch", "ranks")
    assert found["status"]["completedIndexes"] == "0-2"
    said = {stage.log(p["metadata"]["name"])[0] for p in stage.all("pods", "default")}
    assert said == {"rank 0", "rank 1", "rank 2"}


def test_services_have_the_addresses_of_ready_pods(stage: Stage) -> None:
    ports = [{"name": "http", "port": 80, "targetPort": 8080}]
    spec = {"selector": {"app": "web"}, "ports": ports}
    stage.create("services", {"metadata": {"name": "web", "namespace": "default"}, "spec": spec})
    stage.create("deployments.apps", workload("web", replicas=2))
    stage.wait(20)
    subset = stage.get("endpoints", "web")["subsets"][0]
    assert len(subset["addresses"]) == 2 and subset["ports"][0]["port"] == 8080
    slices = stage.kube.list(
        CLUSTER, "endpointslices.discovery.k8s.io", "default", {"kubernetes.io/service-name": "web"}
    )
    assert len(slices) == 1 and len(slices[0]["endpoints"]) == 2


def test_a_namespace_goes_with_everything(stage: Stage) -> None:
    stage.create("namespaces", {"metadata": {"name": "team"}})
    stage.wait(1)
    assert stage.get("serviceaccounts", "default", "team")
    body = workload("web", replicas=2)
    body["metadata"]["namespace"] = "team"
    stage.create("deployments.apps", body)
    stage.wait(10)
    stage.kube.delete(CLUSTER, "namespaces", None, "team")
    assert stage.get("namespaces", "team", None)["status"]["phase"] == "Terminating"
    stage.wait(10)
    assert stage.find("namespaces", "team", None) is None
    assert stage.all("pods", "team") == []


def test_a_disruption_budget_counts(stage: Stage) -> None:
    stage.create("deployments.apps", workload("web", replicas=3))
    spec = {"minAvailable": 2, "selector": {"matchLabels": {"app": "web"}}}
    stage.create("poddisruptionbudgets.policy", {"metadata": {"name": "web", "namespace": "default"}, "spec": spec})
    stage.wait(20)
    status = stage.get("poddisruptionbudgets.policy", "web")["status"]
    assert (status["currentHealthy"], status["desiredHealthy"], status["disruptionsAllowed"]) == (3, 2, 1)
