"""Helm as a program: an argument list, a clean environment, a kubeconfig of its own that only this user can read.

Nothing waits for pods (`--wait`, `--atomic`): charts go in before there are nodes. A release of others is not touched.
"""

from __future__ import annotations

import asyncio
import base64
import fcntl
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import yaml

from instantstart.core.names import FIELD_MANAGER, MANAGED_BY
from instantstart.core.problem import define
from instantstart.kube.chart_files import ChartFiles
from instantstart.kube.charts import ChartTable
from instantstart.kube.client import Kube
from instantstart.kube.clusters import KubeClusters
from instantstart.kube.helm_binary import find_helm
from instantstart.kube.releases import CHART_LABEL, Release, read_releases

HELM_FOREIGN = define(
    "helm_release_foreign",
    409,
    "A Helm release of that name was installed by somebody else",
    "Uninstall it with helm, or leave it and do without ours.",
)
HELM_FAILED = define("helm_failed", 502, "Helm could not do it", "Read what Helm said, then retry the stage.")
HELM_BUSY = define("helm_busy", 409, "A Helm process is still at work on this release")
_UNREACHABLE = ("connection refused", "i/o timeout", "tls handshake timeout", "cluster unreachable", "eof")


class Helm:
    """Installs and removes releases, and reads what is installed."""

    def __init__(self, clusters: KubeClusters, *, helm_path: str | None, cache_dir: Path, charts: ChartTable) -> None:
        self._clusters, self._configured, self._cache = clusters, helm_path, cache_dir
        self.charts = charts
        self._files = ChartFiles(cache_dir / "charts", charts)
        self._binary: Path | None = None

    async def status(self, eks_cluster: str, namespace: str, release: str) -> Release | None:
        """The newest revision of a release, or None. Raises KubeProblem."""
        found = await read_releases(await self._clusters.get(eks_cluster), namespace, release)
        return found[0] if found else None

    async def list(self, eks_cluster: str) -> list[Release]:
        """The newest revision of every release in the cluster. Raises KubeProblem."""
        return await read_releases(await self._clusters.get(eks_cluster))

    async def upgrade_install(
        self, eks_cluster: str, namespace: str, release: str, chart: str, values: dict[str, Any], timeout: float
    ) -> dict[str, Any]:
        """Install or upgrade `release` with row `chart` of the table; `timeout` in seconds. Does not wait for pods.

        Raises helm_release_foreign, helm_busy, helm_failed, and the problems of charts and of the cluster. What a
        killed Helm left pending is cleared first, which keeps the objects: Helm takes them over again.
        """
        source = self.charts.source(chart)
        path = await self._files.ready(chart)
        kube = await self._clusters.get(eks_cluster)
        with self._alone(eks_cluster, namespace, release) as lock:
            standing = await self.status(eks_cluster, namespace, release)
            if standing is not None and not standing.ours:
                raise HELM_FOREIGN(_foreign(standing))
            if standing is not None and standing.pending:
                await kube.delete("secrets", standing.secret, namespace)
            labels = f"{MANAGED_BY}={FIELD_MANAGER},{CHART_LABEL}={source.mark}"
            arguments = ["upgrade", release, str(path), "--install", "--namespace", namespace, "--create-namespace"]
            arguments += ["--labels", labels, "--history-max", "3", "--timeout", f"{int(timeout)}s", "--output", "json"]
            await self._run(kube, arguments, values=values, timeout=timeout, lock=lock)
        installed = await self.status(eks_cluster, namespace, release)
        return _answer(installed) | {"mark": source.mark}

    async def uninstall(self, eks_cluster: str, namespace: str, release: str) -> dict[str, Any]:
        """Uninstall our release; {} when there is none. Raises helm_release_foreign for others."""
        kube = await self._clusters.get(eks_cluster)
        with self._alone(eks_cluster, namespace, release) as lock:
            standing = await self.status(eks_cluster, namespace, release)
            if standing is None:
                return {}
            if not standing.ours:
                raise HELM_FOREIGN(_foreign(standing))
            arguments = ["uninstall", release, "--namespace", namespace, "--ignore-not-found"]
            await self._run(kube, arguments, values=None, timeout=60.0, lock=lock)
        return _answer(standing)

    def installed(self, standing: Release | None, chart: str, values: dict[str, Any]) -> bool:
        """Whether a release is deployed with exactly this content of the chart and these values."""
        if standing is None or standing.status != "deployed":
            return False
        mark = self.charts.source(chart).mark
        return standing.labels.get(CHART_LABEL) == mark and standing.values == values

    @contextmanager
    def _alone(self, eks_cluster: str, namespace: str, release: str) -> Iterator[int]:
        """A file lock that the Helm process inherits: it is held until the last of them has ended."""
        folder = self._cache / "locks"
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder / f"{eks_cluster}-{namespace}-{release}.lock", os.O_CREAT | os.O_RDWR, 0o600)
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise HELM_BUSY(f"Helm is at work on {namespace}/{release} in {eks_cluster}.", transient=True) from None
            yield handle
        finally:
            os.close(handle)

    async def _run(
        self, kube: Kube, arguments: Sequence[str], *, values: dict[str, Any] | None, timeout: float, lock: int
    ) -> bytes:
        if self._binary is None:
            self._binary = await asyncio.to_thread(find_helm, self._configured, self._cache / "bin")
        self._cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self._cache, prefix="run-") as room:
            config = _private(Path(room) / "kubeconfig", yaml.safe_dump(await _kubeconfig(kube)))
            if values is not None:
                arguments = [*arguments, "--values", str(_private(Path(room) / "values.yaml", yaml.safe_dump(values)))]
            process = await asyncio.create_subprocess_exec(
                str(self._binary),
                *arguments,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=_environment(room, config),
                pass_fds=(lock,),
                start_new_session=True,
            )
            return await _finish(process, arguments[0], timeout)


async def _finish(process: asyncio.subprocess.Process, verb: str, timeout: float) -> bytes:
    try:
        out, err = await asyncio.wait_for(process.communicate(), timeout)
    except TimeoutError:
        await _stop(process)
        said = f"helm {verb}: not done within {timeout:g} s."
        raise HELM_FAILED(said, log=said, transient=True) from None
    except asyncio.CancelledError:
        await _stop(process)
        raise
    if process.returncode != 0:
        said = err.decode(errors="replace").strip()[-2000:] or f"exit code {process.returncode}"
        passing = any(word in said.lower() for word in _UNREACHABLE)
        raise HELM_FAILED(f"helm {verb}: {said}", log=f"helm {verb}: {said}", transient=passing)
    return out


async def _stop(process: asyncio.subprocess.Process) -> None:
    """End the process we started: asked first, then killed."""
    with suppress(ProcessLookupError):
        process.terminate()
    try:
        await asyncio.wait_for(process.wait(), 5.0)
    except TimeoutError:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def _kubeconfig(kube: Kube) -> dict[str, Any]:
    cluster: dict[str, Any] = {"server": kube.server}
    if kube.ca:
        cluster["certificate-authority-data"] = _base64(kube.ca)
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "it",
        "clusters": [{"name": "it", "cluster": cluster}],
        "users": [{"name": "it", "user": {"token": await kube.token(False)}}],
        "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
    }


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _private(path: Path, text: str) -> Path:
    """Write a file that only this user can read."""
    with os.fdopen(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
    return path


def _environment(room: str, config: Path) -> dict[str, str]:
    """Nothing of the service's own environment: no AWS variables, no proxies, no plugins."""
    return {
        "HOME": room,
        "PATH": "/usr/bin:/bin",
        "KUBECONFIG": str(config),
        "HELM_DRIVER": "secret",
        "HELM_CACHE_HOME": f"{room}/cache",
        "HELM_CONFIG_HOME": f"{room}/config",
        "HELM_DATA_HOME": f"{room}/data",
        "HELM_PLUGINS": f"{room}/plugins",
    }


def _foreign(standing: Release) -> str:
    return (
        f"Release {standing.name} in namespace {standing.namespace} (chart {standing.chart} {standing.chart_version}, "
        f"{standing.status}) was not installed by InstantStart."
    )


def _answer(release: Release | None) -> dict[str, Any]:
    if release is None:
        return {}
    return {
        "release": release.name,
        "namespace": release.namespace,
        "revision": release.revision,
        "status": release.status,
        "chart": release.chart,
        "chart_version": release.chart_version,
    }
