"""Charts: pins are checked, folders are known by their git tree, what is unpinned is refused."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import subprocess
import tarfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from instantstart.core.problem import ProblemError
from instantstart.kube.chart_files import ChartFiles
from instantstart.kube.charts import HYPERPOD_CHART, PINNED, ChartSource, ChartTable, load_charts
from instantstart.kube.git_tree import tree_id
from tests.aws.scripted import Answer, Scripted, scripted


@pytest.fixture
async def server() -> AsyncIterator[Scripted]:
    async with scripted() as running:
        yield running


def archive(files: dict[str, str]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(text), 0o644
            tar.addfile(entry, io.BytesIO(text.encode()))
    return out.getvalue()


CHART = {
    "repo-abc/README.md": "not in the chart",
    "repo-abc/charts/it/Chart.yaml": yaml.safe_dump(
        {"name": "it", "version": "0.1.0", "dependencies": [{"name": "off"}, {"name": "sub"}]}
    ),
    "repo-abc/charts/it/templates/x.yaml": "kind: ConfigMap\n",
    "repo-abc/charts/it/charts/old.tgz": "old",
}


def files(server: Scripted, kept: Path, **row: Any) -> ChartFiles:
    given = {"version": "1", "url": f"{server.url}/it.tgz"} | row
    return ChartFiles(kept, ChartTable({"it": ChartSource(**given)}))


def found_under(folder: Path, name: str) -> list[Path]:
    return list(folder.rglob(name))


async def test_a_package_is_fetched_once_and_checked(server: Scripted, tmp_path: Path) -> None:
    content = archive(CHART)
    server.answers = [Answer(body=content)]
    charts = files(server, tmp_path, sha256=hashlib.sha256(content).hexdigest())
    path = await charts.ready("it")
    assert path.read_bytes() == content and await charts.ready("it") == path
    assert len(server.asked) == 1


async def test_another_content_is_refused(server: Scripted, tmp_path: Path) -> None:
    server.answers = [Answer(body=archive(CHART))]
    with pytest.raises(ProblemError, match="chart_changed") as error:
        await files(server, tmp_path, sha256="0" * 64).ready("it")
    assert error.value.problem.data["expected"] == "0" * 64
    assert found_under(tmp_path, "*") == []


async def test_a_folder_is_known_by_its_tree(server: Scripted, tmp_path: Path) -> None:
    content = archive(CHART)
    wanted = tmp_path / "expected"
    for name, text in CHART.items():
        if name.startswith("repo-abc/charts/it/"):
            path = wanted / name.removeprefix("repo-abc/charts/it/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    row: dict[str, Any] = {
        "folder": "charts/it",
        "tree": tree_id(wanted),
        "leave_out": ["charts/old.tgz"],
        "drop_dependencies": ["off"],
    }
    server.answers = [Answer(body=content), Answer(body=content)]
    path = await files(server, tmp_path / "kept", **row).ready("it")
    assert sorted(p.relative_to(path).as_posix() for p in path.rglob("*") if p.is_file()) == [
        "Chart.yaml",
        "templates/x.yaml",
    ]
    assert yaml.safe_load((path / "Chart.yaml").read_text())["dependencies"] == [{"name": "sub"}]
    with pytest.raises(ProblemError, match="chart_changed"):
        await files(server, tmp_path / "other", **(row | {"tree": "1" * 40})).ready("it")


async def test_an_archive_cannot_write_elsewhere(server: Scripted, tmp_path: Path) -> None:
    server.answers = [Answer(body=archive(CHART | {"repo-abc/charts/it/../../../../evil": "x"}))]
    with pytest.raises(ProblemError, match="chart_changed"):
        await files(server, tmp_path / "kept", folder="charts/it", tree="1" * 40).ready("it")
    assert found_under(tmp_path, "evil") == []


@pytest.mark.parametrize(("status", "passes"), [(404, False), (503, True)])
async def test_a_failed_download(server: Scripted, tmp_path: Path, status: int, passes: bool) -> None:
    server.answers = [Answer(status, b"no")]
    with pytest.raises(ProblemError, match="chart_fetch") as error:
        await files(server, tmp_path, sha256="0" * 64).ready("it")
    assert error.value.transient is passes


async def test_what_is_no_archive(server: Scripted, tmp_path: Path) -> None:
    server.answers = [Answer(body=b"<html>"), Answer(body=gzip.compress(b"not a tar"))]
    for _ in range(2):
        with pytest.raises(ProblemError, match="chart_changed"):
            await files(server, tmp_path, folder="charts/it", tree="1" * 40).ready("it")


def test_unpinned_charts_are_refused_unless_allowed() -> None:
    rows = {"it": ChartSource(version="1", url="http://127.0.0.1/it.tgz")}
    with pytest.raises(ProblemError, match="chart_unverified"):
        ChartTable(rows).source("it")
    assert ChartTable(rows, allow_unverified=True).source("it").mark == "unverified-1"


def test_every_row_of_the_table_is_pinned() -> None:
    table = load_charts(None)
    assert set(table.rows) == set(PINNED)
    for name in PINNED:
        assert table.source(name).pin
    for row in table.source(HYPERPOD_CHART).bring.values():
        assert table.source(row).sha256


def test_a_file_overrides_rows(tmp_path: Path) -> None:
    path = tmp_path / "charts.json"
    path.write_text(json.dumps({"keda": {"version": "9", "url": "http://127.0.0.1/keda.tgz", "sha256": "a" * 64}}))
    table = load_charts(str(path))
    assert table.source("keda").version == "9" and table.source(HYPERPOD_CHART).tree
    path.write_text('{"keda": {"nonsense": 1}}')
    with pytest.raises(ValueError, match="chart_sources"):
        load_charts(str(path))


def test_tree_ids_are_those_of_git(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b").write_text("x")
    (tmp_path / "a.txt").write_text("y")
    (tmp_path / "run").write_text("z")
    (tmp_path / "run").chmod(0o755)
    (tmp_path / "link").symlink_to("a.txt")
    (tmp_path / "empty").mkdir()
    found = tree_id(tmp_path)
    git = ["git", "-c", "init.defaultBranch=main", "-C", str(tmp_path)]
    for arguments in (["init", "-q"], ["add", "-A"]):
        subprocess.run([*git, *arguments], check=True)
    wanted = subprocess.run([*git, "write-tree"], check=True, capture_output=True, text=True).stdout.strip()
    assert found == wanted
