"""The control interface, and the sandbox as a process that is killed and started again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config

from tests.sandbox.account import account
from tests.sandbox_fixture import RunningSandbox


def test_the_clock_shows_and_takes_mode_speed_and_steps(sandbox: RunningSandbox) -> None:
    status, first = sandbox.control("clock")
    assert status == 200 and set(first) == {"mode", "speed", "time", "now", "revision"}
    assert first["mode"] == "explicit"
    _, second = sandbox.control("clock", {"advance_seconds": 90})
    assert second["time"] == pytest.approx(first["time"] + 90)
    assert second["revision"] > first["revision"]
    _, auto = sandbox.control("clock", {"mode": "auto", "speed": 1000})
    assert (auto["mode"], auto["speed"]) == ("auto", 1000)
    status, problem = sandbox.control("clock", {"advance_seconds": 1})
    assert (status, problem["code"]) == (409, "clock_not_explicit")
    assert sandbox.control("clock", {"mode": "explicit", "advance_seconds": 1})[0] == 200


def test_a_follower_hears_of_a_change_at_once(sandbox: RunningSandbox) -> None:
    revision = sandbox.control("clock")[1]["revision"]
    heard: list[dict[str, Any]] = []
    thread = threading.Thread(target=lambda: heard.append(sandbox.control(f"clock?revision={revision}&wait=30")[1]))
    thread.start()
    sandbox.advance(5)
    thread.join(10)
    assert heard and heard[0]["revision"] > revision
    began = time.monotonic()
    sandbox.control(f"clock?revision={heard[0]['revision'] + 5}&wait=30")
    assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    ("path", "body", "fields"),
    [
        ("clock", {"mode": "x", "speed": -1, "more": 1}, ["/mode", "/more", "/speed"]),
        ("clock", {"advance_seconds": "soon"}, ["/advance_seconds"]),
        ("faults", {"kind": "x", "count": 0, "probability": 2}, ["/count", "/kind", "/probability"]),
        ("faults", {"service": 1}, ["/kind", "/service"]),
        ("settings", {"sagemaker_update_mode": "x", "rate_limits": 1}, ["/rate_limits", "/sagemaker_update_mode"]),
        (
            "settings",
            {"quotas": {"sagemaker/none": 1}, "capacity": {"ml.x": -1}},
            ["/capacity/ml.x", "/quotas/sagemaker/none"],
        ),
    ],
)
def test_bad_fields_are_all_named(sandbox: RunningSandbox, path: str, body: dict[str, Any], fields: list[str]) -> None:
    before = sandbox.control(path)[1]
    status, problem = sandbox.control(path, body)
    assert status == 400
    assert sorted(e["field"] for e in problem["errors"]) == fields
    assert sandbox.control(path)[1] == before


def test_unknown_paths_and_methods(sandbox: RunningSandbox) -> None:
    assert sandbox.control("nothing")[0] == 404
    assert sandbox.control("clock", method="DELETE")[0] == 405
    assert sandbox.control("healthz") == (200, {"status": "ok"})


def test_faults_come_and_go(sandbox: RunningSandbox) -> None:
    first = sandbox.fault("throttling", service="eks", count=2)
    sandbox.fault("slow", probability=0.5)
    assert len(sandbox.control("faults")[1]["items"]) == 2
    assert sandbox.control(f"faults?id={first['id']}", method="DELETE")[1] == {"removed": 1}
    assert sandbox.control("faults", method="DELETE")[1] == {"removed": 1}
    assert sandbox.control("faults")[1]["items"] == []


def test_requests_come_in_pages(sandbox: RunningSandbox) -> None:
    for _ in range(5):
        sandbox.client("eks").list_clusters()
    page = sandbox.control("requests?limit=2")[1]
    assert [r["seq"] for r in page["items"]] == [1, 2] and page["next"] == 2
    assert set(page["items"][0]) == {
        "seq", "time", "service", "operation", "request_id", "mutating", "applied", "params", "status"
    }  # fmt: skip
    last = sandbox.control("requests?after=4&limit=2")[1]
    assert [r["seq"] for r in last["items"]] == [5] and last["next"] is None
    assert sandbox.control("requests?limit=0")[0] == 400


def test_quotas_can_be_set(sandbox: RunningSandbox) -> None:
    sandbox.control("settings", {"quotas": {"sagemaker/L-8762A75F": 3}})
    quota = sandbox.client("service-quotas").get_service_quota(ServiceCode="sagemaker", QuotaCode="L-8762A75F")
    assert quota["Quota"]["Value"] == 3
    default = sandbox.client("service-quotas").get_aws_default_service_quota
    assert default(ServiceCode="sagemaker", QuotaCode="L-8762A75F")["Quota"]["Value"] == 16


def test_reset_makes_a_new_world_whose_clock_goes_on(sandbox: RunningSandbox) -> None:
    new = sandbox.world()
    account(sandbox).eks_cluster()
    sandbox.advance(5000)
    now = sandbox.control("clock")[1]["time"]
    assert sandbox.control("reset", {})[0] == 200
    assert sandbox.world() == new
    assert sandbox.requests() == []
    clock = sandbox.control("clock")[1]
    assert (clock["mode"], clock["time"]) == ("explicit", now)
    account(sandbox).active_eks()


class Process:
    """The sandbox as a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ports: tuple[int, int] = (0, 0)
        self.child: subprocess.Popen[bytes] | None = None

    def start(self, *more: str) -> None:
        """Start it and wait until it answers."""
        (self.folder / "sandbox.json").unlink(missing_ok=True)
        command = [sys.executable, "-m", "instantstart_sandbox", "--state-dir", str(self.folder)]
        command += ["--port", str(self.ports[0]), "--kube-port", str(self.ports[1]), *more]
        self.child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while not (self.folder / "sandbox.json").exists():
            assert self.child.poll() is None and time.monotonic() < deadline
            time.sleep(0.05)
        self.told = json.loads((self.folder / "sandbox.json").read_text())
        self.ports = (int(self.told["url"].rpartition(":")[2]), int(self.told["kube_url"].rpartition(":")[2]))

    def end(self, number: int) -> int:
        """Send a signal and wait."""
        assert self.child is not None
        self.child.send_signal(number)
        return self.child.wait(20)

    def control(self, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """A control call."""
        data = json.dumps(body).encode() if body is not None else None
        with urllib.request.urlopen(f"{self.told['url']}/_sandbox/{path}", data=data, timeout=30) as answer:
            found: dict[str, Any] = json.load(answer)
            return found

    def client(self, service: str) -> Any:
        """A boto3 client."""
        return boto3.client(
            service,
            endpoint_url=self.told["url"],
            region_name="us-west-2",
            aws_access_key_id="a",
            aws_secret_access_key="b",
            config=Config(retries={"total_max_attempts": 1}),
        )


@pytest.fixture
def process(tmp_path: Path) -> Iterator[Process]:
    running = Process(tmp_path)
    yield running
    if running.child is not None and running.child.poll() is None:
        running.end(signal.SIGKILL)


def test_kill_and_start_again_on_the_same_ports(process: Process) -> None:
    process.start("--mode", "explicit")
    told = process.told
    assert told["pid"] == process.child.pid and Path(told["ca_file"]).is_file()  # type: ignore[union-attr]
    ec2 = process.client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]
    process.control("clock", {"advance_seconds": 77})
    now = process.control("clock")["time"]
    assert process.end(signal.SIGKILL) == -signal.SIGKILL
    process.start()
    assert (process.told["url"], process.told["kube_url"]) == (told["url"], told["kube_url"])
    assert process.control("clock")["time"] == now
    assert vpc["VpcId"] in [v["VpcId"] for v in ec2.describe_vpcs()["Vpcs"]]
    assert [r["operation"] for r in process.control("requests")["items"]] == ["CreateVpc", "DescribeVpcs"]
    second = subprocess.run(
        [sys.executable, "-m", "instantstart_sandbox", "--state-dir", str(process.folder)],
        capture_output=True,
        text=True,
        check=False,
        env=dict(os.environ),
    )
    assert second.returncode == 1 and "Another sandbox process" in second.stderr
    assert process.end(signal.SIGTERM) == 0
