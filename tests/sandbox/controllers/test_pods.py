"""What a kubelet does with a pod: start, output, exit codes, restarts, images, secrets, stopping."""

from __future__ import annotations

import pytest

from tests.sandbox.controllers.stage import CLUSTER, Stage, condition


@pytest.fixture
def stage() -> Stage:
    found = Stage()
    found.node()
    found.wait(60)
    return found


def shell(script: str) -> list[dict[str, object]]:
    return [{"name": "main", "image": "busybox:1.36", "command": ["sh", "-c", script]}]


def test_a_pod_starts_with_its_events(stage: Stage) -> None:
    stage.pod("web")
    assert (
        stage.get("pods", "web")["status"]["containerStatuses"][0]["state"]["waiting"]["reason"] == "ContainerCreating"
    )
    stage.wait(5)
    status = stage.get("pods", "web")["status"]
    assert status["phase"] == "Running"
    assert status["podIP"] != status["hostIP"]
    assert all(c["status"] == "True" for c in status["conditions"])
    node = stage.get("pods", "web")["spec"]["nodeName"]
    assert stage.messages("web", "Scheduled") == [f"Successfully assigned default/web to {node}"]
    assert stage.messages("web", "Started") == ["Started container main"]


def test_exit_codes_and_back_off(stage: Stage) -> None:
    stage.pod("bad", containers=shell("echo about to fail; exit 3"))
    stage.wait(8)
    found = stage.get("pods", "bad")["status"]["containerStatuses"][0]
    assert found["restartCount"] >= 1
    assert found["lastState"]["terminated"]["exitCode"] == 3
    assert found["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    assert found["state"]["waiting"]["message"].startswith(
        "back-off 10s restarting failed container=main pod=bad_default("
    )
    assert stage.log("bad")[-1] == "about to fail"
    assert condition(stage.get("pods", "bad"), "Ready")["reason"] == "ContainersNotReady"


def test_restart_never_ends_failed_and_succeeded(stage: Stage) -> None:
    stage.pod("lost", containers=shell("exit 1"), restartPolicy="Never")
    stage.pod("won", containers=shell("echo done"), restartPolicy="Never")
    stage.wait(5)
    assert stage.get("pods", "lost")["status"]["phase"] == "Failed"
    assert stage.get("pods", "won")["status"]["phase"] == "Succeeded"
    assert condition(stage.get("pods", "won"), "Ready")["reason"] == "PodCompleted"
    assert stage.get("pods", "won")["status"]["containerStatuses"][0]["state"]["terminated"]["reason"] == "Completed"


def test_an_image_that_cannot_be_pulled(stage: Stage) -> None:
    stage.world.faults.add({"kind": "image_pull", "match": "nosuch", "count": 2})
    stage.pod("pull", containers=[{"name": "main", "image": "nosuch:1"}])
    stage.wait(3.2)
    assert stage.get("pods", "pull")["status"]["containerStatuses"][0]["state"]["waiting"]["reason"] == "ErrImagePull"
    assert any(
        m.startswith(
            'Failed to pull image "nosuch:1": rpc error: code = NotFound desc = failed to pull and unpack image'
        )
        for m in stage.messages("pull", "Failed")
    )
    stage.wait(4)
    waiting = stage.get("pods", "pull")["status"]["containerStatuses"][0]["state"]["waiting"]
    assert waiting["reason"] == "ImagePullBackOff"
    assert waiting["message"].startswith('Back-off pulling image "nosuch:1": ErrImagePull: ')
    assert 'Back-off pulling image "nosuch:1"' in stage.messages("pull", "BackOff")
    stage.wait(60)
    assert stage.get("pods", "pull")["status"]["phase"] == "Running"


def test_a_missing_secret_holds_the_container_until_it_is_there(stage: Stage) -> None:
    env = [{"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "hf", "key": "token"}}}]
    stage.pod("needs", containers=[{"name": "main", "image": "busybox:1.36", "env": env}])
    stage.wait(5)
    waiting = stage.get("pods", "needs")["status"]["containerStatuses"][0]["state"]["waiting"]
    assert waiting == {"reason": "CreateContainerConfigError", "message": 'secret "hf" not found'}
    stage.create("secrets", {"metadata": {"name": "hf", "namespace": "default"}, "stringData": {"token": "x"}})
    stage.wait(15)
    assert stage.get("pods", "needs")["status"]["phase"] == "Running"


def test_a_missing_config_map_stops_the_mount(stage: Stage) -> None:
    stage.pod("config", volumes=[{"name": "conf", "configMap": {"name": "conf"}}])
    stage.wait(5)
    assert stage.messages("config", "FailedMount") == [
        'MountVolume.SetUp failed for volume "conf" : configmap "conf" not found'
    ]
    stage.create("configmaps", {"metadata": {"name": "conf", "namespace": "default"}, "data": {"a": "b"}})
    stage.wait(20)
    assert stage.get("pods", "config")["status"]["phase"] == "Running"


def test_init_containers_come_first(stage: Stage) -> None:
    init = [{"name": "first", "image": "busybox:1.36", "command": ["sh", "-c", "sleep 20; echo ready"]}]
    stage.pod("two", initContainers=init)
    stage.wait(10)
    assert condition(stage.get("pods", "two"), "Initialized")["status"] == "False"
    stage.wait(20)
    assert stage.get("pods", "two")["status"]["phase"] == "Running"
    assert stage.log("two", "first") == ["ready"]


def test_readiness_probe_delays_ready(stage: Stage) -> None:
    probe = {"httpGet": {"port": 80}, "initialDelaySeconds": 20, "periodSeconds": 10}
    stage.pod("slow", containers=[{"name": "main", "image": "nginx:1", "readinessProbe": probe}])
    stage.wait(10)
    assert condition(stage.get("pods", "slow"), "Ready")["status"] == "False"
    stage.wait(25)
    assert condition(stage.get("pods", "slow"), "Ready")["status"] == "True"


def test_stopping_takes_a_moment_and_a_stubborn_one_the_whole_grace(stage: Stage) -> None:
    stage.pod("quick")
    stage.pod("stubborn", containers=[{"name": "main", "image": "busybox:1.36", "command": ["sleep", "infinity"]}])
    stage.wait(10)
    for name in ("quick", "stubborn"):
        stage.kube.delete(CLUSTER, "pods", "default", name)
    assert stage.messages("quick", "Killing") == ["Stopping container main"]
    stage.wait(2)
    assert stage.find("pods", "quick") is None
    assert "deletionTimestamp" in stage.get("pods", "stubborn")["metadata"]
    stage.wait(30)
    assert stage.find("pods", "stubborn") is None


def test_a_script_goes_on_after_a_restart_of_the_sandbox(tmp_path: object) -> None:
    from pathlib import Path

    folder = Path(str(tmp_path))
    stage = Stage(folder)
    stage.node()
    stage.wait(60)
    script = "echo one > /tmp/f; sleep 30; cat /tmp/f; sleep 30; echo end"
    stage.pod("long", containers=shell(script), restartPolicy="Never")
    stage.wait(20)
    del stage
    again = Stage(folder)
    again.wait(70)
    assert again.get("pods", "long")["status"]["phase"] == "Succeeded"
    assert again.log("long") == ["one", "end"]
