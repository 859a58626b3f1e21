"""Which stand-in charts there are, what they are pinned to, and where they are served."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from instantstart_sandbox.charts.packing import Tree, archive, digest, tree_id

REPOSITORY = "sagemaker-hyperpod-cli"
FOLDER = "helm_chart/HyperPodHelmChart"
COMMIT = "011ca927123e02b35a399935bbb3ab1905fe33c7"
"""The commit that the real chart is pinned to; the tree is the stand-in's own."""
STALE = "charts/health-monitoring-agent-0.1.0.tgz"
HYPERPOD = "hyperpod-dependencies"
_PACKAGES = {
    "nvidia-device-plugin": "0.16.1",
    "aws-efa-k8s-device-plugin": "v0.5.20",
    "aws-load-balancer-controller": "3.5.0",
    "kuberay-operator": "1.4.2",
    "keda": "2.20.2",
}


@dataclass(frozen=True)
class Package:
    """A packaged chart."""

    name: str
    version: str
    content: bytes

    @property
    def file(self) -> str:
        """Its file name."""
        return f"{self.name}-{self.version}.tgz"

    @property
    def digest(self) -> str:
        """sha256 of the package."""
        return digest(self.content)


def _read(folder: Traversable, prefix: str = "") -> Tree:
    found: Tree = {}
    for entry in folder.iterdir():
        if entry.is_dir():
            found |= _read(entry, f"{prefix}{entry.name}/")
        else:
            found[prefix + entry.name] = entry.read_bytes()
    return found


def _source(name: str) -> Tree:
    return _read(files("instantstart_sandbox.charts").joinpath("files", name))


@lru_cache(maxsize=1)
def packages() -> dict[str, Package]:
    """File name to package."""
    made = (Package(n, v, archive(_source(n), n)) for n, v in _PACKAGES.items())
    return {p.file: p for p in made}


@lru_cache(maxsize=1)
def hyperpod_folder() -> Tree:
    """The files of HyperPod's chart, with the old package that lies beside the newer folder."""
    stale = archive(_source("stale-health-monitoring-agent"), "health-monitoring-agent")
    return {**_source("hyperpod"), STALE: stale}


@lru_cache(maxsize=1)
def repository_archive() -> bytes:
    """The repository at the commit, as its host would pack it."""
    inside = {f"{FOLDER}/{path}": content for path, content in hyperpod_folder().items()}
    inside["README.md"] = b"A stand-in for the repository, in a simulated world.\n"
    return archive(inside, f"{REPOSITORY}-{COMMIT}")


def chart_table() -> list[dict[str, str]]:
    """All charts as {name, kind: packaged or git, url (a path below the charts' root), version or commit, digest or tree}."""
    rows = [
        {"name": p.name, "kind": "packaged", "url": f"/{p.file}", "version": p.version, "digest": p.digest}
        for p in packages().values()
    ]
    git = {"name": HYPERPOD, "kind": "git", "url": f"/git/{REPOSITORY}/{COMMIT}.tar.gz", "commit": COMMIT}
    return [{**git, "tree": tree_id(hyperpod_folder())}, *rows]


def chart_rows(base_url: str) -> dict[str, dict[str, Any]]:
    """The same as rows of a chart-source file: name to {version, url, sha256} or {version, url, folder, commit, tree, …}.

    `base_url` is where `charts_app` is mounted, without a slash at its end.
    """
    rows: dict[str, dict[str, Any]] = {}
    for row in chart_table():
        url = base_url + row["url"]
        if row["kind"] == "packaged":
            rows[row["name"]] = {"version": row["version"], "url": url, "sha256": row["digest"]}
            continue
        rows[row["name"]] = {
            "version": row["commit"],
            "url": url,
            "folder": FOLDER,
            "commit": row["commit"],
            "tree": row["tree"],
            "leave_out": [STALE],
            "bring": {
                f"charts/{name}-{_PACKAGES[name]}.tgz": name
                for name in ("nvidia-device-plugin", "aws-efa-k8s-device-plugin")
            },
            "drop_dependencies": ["cert-manager"],
        }
    return rows
