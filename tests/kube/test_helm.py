"""The real helm program against the sandbox's API server: install, repair, adopt nothing, remove."""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import stat
import tarfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml

from instantstart.core.problem import ProblemError
from instantstart.kube.charts import ChartSource, ChartTable
from instantstart.kube.helm import Helm
from instantstart.kube.helm_binary import find_helm
from instantstart.kube.releases import Release
from tests.aws.scripted import Answer, scripted
from tests.kube.conftest import CLUSTER, Cluster

NAMESPACE, RELEASE, ROW = "kube-system", "hyperpod-dependencies", "hyperpod-dependencies"
FILES = {
    "it/Chart.yaml": yaml.safe_dump({"apiVersion": "v2", "name": "hyperpod-helm-chart", "version": "0.1.0"}),
    "it/values.yaml": "global: {region: none}\n",
    "it/templates/it.yaml": (
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: it\n  namespace: kube-system\n"
        "data:\n  region: {{ .Values.global.region | quote }}\n"
    ),
}


def package() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, text in FILES.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(text), 0o644
            tar.addfile(entry, io.BytesIO(text.encode()))
    return out.getvalue()


@pytest.fixture(scope="session")
def binary(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(find_helm(None, tmp_path_factory.mktemp("helm")))


@pytest.fixture
async def helm(cluster: Cluster, binary: str, tmp_path: Path) -> AsyncIterator[Helm]:
    content = package()
    async with scripted() as server:
        server.rule = lambda _: Answer(body=content)
        digest = hashlib.sha256(content).hexdigest()
        table = ChartTable({ROW: ChartSource(version="1", url=f"{server.url}/it.tgz", sha256=digest)})
        yield Helm(cluster.clusters, helm_path=binary, cache_dir=tmp_path / "helm", charts=table)


async def install(helm: Helm, region: str = "us-west-2") -> dict[str, Any]:
    return await helm.upgrade_install(CLUSTER, NAMESPACE, RELEASE, ROW, {"global": {"region": region}}, 120)


async def standing(helm: Helm) -> Release:
    found = await helm.status(CLUSTER, NAMESPACE, RELEASE)
    assert found is not None
    return found


async def rewrite(cluster: Cluster, release: Release, *, status: str, labels: dict[str, Any]) -> None:
    """Change Helm's record as a killed helm, or another's, would have left it."""
    kube = await cluster.clusters.get(CLUSTER)
    secret = await kube.get("secrets", release.secret, NAMESPACE)
    assert secret is not None
    record = orjson.loads(gzip.decompress(base64.b64decode(base64.b64decode(secret["data"]["release"]))))
    record["info"]["status"] = status
    packed = base64.b64encode(base64.b64encode(gzip.compress(orjson.dumps(record)))).decode()
    patch = {"data": {"release": packed}, "metadata": {"labels": {"status": status, **labels}}}
    await kube.patch("secrets", release.secret, patch, NAMESPACE)


def left_over(folder: Path) -> list[Path]:
    return list(folder.glob("run-*"))


async def test_install_upgrade_uninstall(helm: Helm, cluster: Cluster) -> None:
    assert await helm.status(CLUSTER, NAMESPACE, RELEASE) is None
    assert (await install(helm))["revision"] == 1
    first = await standing(helm)
    assert first.ours and first.chart == "hyperpod-helm-chart"
    assert helm.installed(first, ROW, {"global": {"region": "us-west-2"}})
    assert not helm.installed(first, ROW, {"global": {"region": "eu-west-1"}})
    assert (await install(helm, "eu-west-1"))["revision"] == 2
    kube = await cluster.clusters.get(CLUSTER)
    made = await kube.get("configmaps", "it", NAMESPACE)
    assert made is not None and made["data"] == {"region": "eu-west-1"}
    assert [r.name for r in await helm.list(CLUSTER)] == [RELEASE]
    await helm.uninstall(CLUSTER, NAMESPACE, RELEASE)
    assert await helm.list(CLUSTER) == [] and await kube.get("configmaps", "it", NAMESPACE) is None
    assert await helm.uninstall(CLUSTER, NAMESPACE, RELEASE) == {}


async def test_what_a_killed_helm_left_is_repaired(helm: Helm, cluster: Cluster) -> None:
    await install(helm)
    kube = await cluster.clusters.get(CLUSTER)
    before = await kube.get("configmaps", "it", NAMESPACE)
    await rewrite(cluster, await standing(helm), status="pending-install", labels={})
    assert (await standing(helm)).pending
    assert (await install(helm))["status"] == "deployed"
    after = await kube.get("configmaps", "it", NAMESPACE)
    assert before and after and before["metadata"]["uid"] == after["metadata"]["uid"]


async def test_a_release_of_others_is_left_alone(helm: Helm, cluster: Cluster) -> None:
    await install(helm)
    await rewrite(cluster, await standing(helm), status="deployed", labels={"app.kubernetes.io/managed-by": "somebody"})
    with pytest.raises(ProblemError, match="helm_release_foreign"):
        await install(helm, "eu-west-1")
    with pytest.raises(ProblemError, match="helm_release_foreign"):
        await helm.uninstall(CLUSTER, NAMESPACE, RELEASE)
    assert (await standing(helm)).revision == 1


async def test_one_helm_at_a_time(helm: Helm) -> None:
    with helm._alone(CLUSTER, NAMESPACE, RELEASE), pytest.raises(ProblemError, match="helm_busy") as error:
        await install(helm)
    assert error.value.transient
    assert (await install(helm))["revision"] == 1


async def test_what_helm_is_given(cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for helm that writes down its arguments, environment and the kubeconfig's mode."""
    script = tmp_path / "helm-that-tells"
    script.write_text(
        '#!/bin/sh\nenv > "$0.env"\necho "$@" > "$0.args"\nstat -c %a "$KUBECONFIG" > "$0.mode"\nexit 3\n'
    )
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hostile")
    content = package()
    async with scripted() as server:
        server.rule = lambda _: Answer(body=content)
        row = ChartSource(version="1", url=f"{server.url}/it.tgz", sha256=hashlib.sha256(content).hexdigest())
        helm = Helm(cluster.clusters, helm_path=str(script), cache_dir=tmp_path / "c", charts=ChartTable({ROW: row}))
        with pytest.raises(ProblemError, match="exit code 3"):
            await install(helm)
    environment = script.with_suffix(".env").read_text()
    assert "AWS_" not in environment and "HELM_DRIVER=secret" in environment
    arguments = script.with_suffix(".args").read_text()
    assert "--install" in arguments and "--wait" not in arguments and "--atomic" not in arguments
    assert "k8s-aws-v1" not in arguments
    assert script.with_suffix(".mode").read_text().strip() == "600"
    assert left_over(tmp_path / "c") == []


def test_a_configured_helm_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(ProblemError, match="helm_missing"):
        find_helm(str(tmp_path / "none"), tmp_path)
