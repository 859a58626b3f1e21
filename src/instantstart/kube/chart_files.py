"""Fetches a chart by its pinned source, checks it, and keeps it ready for Helm in a folder of its own."""

from __future__ import annotations

import asyncio
import hashlib
import io
import shutil
import tarfile
import tempfile
from pathlib import Path

import httpx2
import yaml

from instantstart.core.problem import ProblemError, define
from instantstart.kube.charts import ChartSource, ChartTable
from instantstart.kube.git_tree import tree_id

CHART_FETCH = define("chart_fetch", 502, "A chart cannot be downloaded", "See that the service reaches the address.")
CHART_CHANGED = define(
    "chart_changed",
    409,
    "A chart is not what it was pinned to",
    "Do not install it. Find out why its publisher changed it; then pin the new content.",
)
_SECONDS = 60.0
_MAX_BYTES = 64 * 1024 * 1024
_MAX_UNPACKED = 256 * 1024 * 1024


class ChartFiles:
    """Charts on disk, one folder or package per exact content."""

    def __init__(self, folder: Path, table: ChartTable) -> None:
        self._folder, self.table = folder, table
        self._lock = asyncio.Lock()

    async def ready(self, name: str) -> Path:
        """Path of the chart for Helm, fetched when it is not there. Raises chart_fetch, chart_changed, …"""
        source = self.table.source(name)
        async with self._lock:
            return await self._ready(name, source)

    async def _ready(self, name: str, source: ChartSource) -> Path:
        place = self._folder / f"{name}-{source.mark}"
        path = place if source.folder else place.with_suffix(".tgz")
        if path.exists():
            return path
        brought = {inside: await self._ready(row, self.table.source(row)) for inside, row in source.bring.items()}
        content = await self._download(name, source)
        if source.folder is None:
            return await asyncio.to_thread(_keep_package, path, name, source, content)
        return await asyncio.to_thread(_keep_folder, path, name, source, content, brought)

    async def _download(self, name: str, source: ChartSource) -> bytes:
        try:
            async with (
                httpx2.AsyncClient(trust_env=False, timeout=_SECONDS, follow_redirects=True) as client,
                client.stream("GET", source.url) as answer,
            ):
                answer.raise_for_status()
                found = bytearray()
                async for part in answer.aiter_bytes():
                    found += part
                    if len(found) > _MAX_BYTES:
                        raise CHART_CHANGED(f"Chart {name}: more than {_MAX_BYTES >> 20} MiB at {source.url}.")
        except httpx2.HTTPError as error:
            said = f"Chart {name} from {source.url}: {type(error).__name__} {error}".rstrip()
            raise CHART_FETCH(said, log=said, transient=_passes(error)) from error
        return bytes(found)


def _passes(error: httpx2.HTTPError) -> bool:
    status = error.response.status_code if isinstance(error, httpx2.HTTPStatusError) else 503
    return status >= 500 or status == 429


def _keep_package(path: Path, name: str, source: ChartSource, content: bytes) -> Path:
    found = hashlib.sha256(content).hexdigest()
    if source.sha256 is not None and found != source.sha256:
        raise _changed(name, source, found)
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as part:
        part.write(content)
    return Path(part.name).replace(path)


def _keep_folder(path: Path, name: str, source: ChartSource, content: bytes, brought: dict[str, Path]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as room:
        chart = _unpack(Path(room), name, source, content)
        found = tree_id(chart)
        if source.tree is not None and found != source.tree:
            raise _changed(name, source, found)
        for inside in source.leave_out:
            (chart / inside).unlink(missing_ok=True)
        for inside, package in brought.items():
            (chart / inside).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(package, chart / inside)
        _drop_dependencies(chart / "Chart.yaml", source.drop_dependencies)
        (chart / "Chart.lock").unlink(missing_ok=True)
        return chart.replace(path)


def _unpack(room: Path, name: str, source: ChartSource, content: bytes) -> Path:
    """Unpack only the chart's folder out of a repository archive, whose paths begin with one folder of any name."""
    wanted = (source.folder or "").strip("/") + "/"
    size = 0
    try:
        with tarfile.open(fileobj=io.BytesIO(content), mode="r:gz") as archive:
            for member in archive:
                inside = member.name.partition("/")[2]
                if not inside.startswith(wanted):
                    continue
                size += member.size
                if size > _MAX_UNPACKED:
                    raise CHART_CHANGED(f"Chart {name}: unpacks to more than {_MAX_UNPACKED >> 20} MiB.")
                member.name = inside.removeprefix(wanted)
                if member.name:
                    _place(archive, member, room / "chart")
    except (tarfile.TarError, OSError, EOFError) as error:
        raise CHART_CHANGED(f"Chart {name}: what {source.url} sends is no archive: {error}") from error
    if not (room / "chart" / "Chart.yaml").is_file():
        raise CHART_CHANGED(f"Chart {name}: the archive at {source.url} has no chart in {source.folder}.")
    return room / "chart"


def _place(archive: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> None:
    """Write one file or folder of an archive below `folder`; TarError for anything else, and for any other place.

    Python's own filter for this came with 3.11.4; a Debian machine has 3.11.2.
    """
    target = (folder / member.name).resolve()
    if not target.is_relative_to(folder.resolve()):
        raise tarfile.TarError(f"{member.name} lies outside the archive's folder")
    content = archive.extractfile(member) if member.isfile() else None
    if member.isdir():
        target.mkdir(parents=True, exist_ok=True)
    elif content is None:
        raise tarfile.TarError(f"{member.name} is neither a file nor a folder")
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.read())
        target.chmod(0o755 if member.mode & 0o100 else 0o644)


def _drop_dependencies(chart_file: Path, dropped: list[str]) -> None:
    if not dropped:
        return
    chart = yaml.safe_load(chart_file.read_text())
    chart["dependencies"] = [d for d in chart.get("dependencies") or [] if d.get("name") not in dropped]
    chart_file.write_text(yaml.safe_dump(chart, sort_keys=False))


def _changed(name: str, source: ChartSource, found: str) -> ProblemError:
    what = "tree" if source.folder else "sha256"
    return CHART_CHANGED(
        f"Chart {name} from {source.url} should have {what} {source.pin}, but has {found}.",
        data={"chart": name, "expected": source.pin, "found": found},
    )
