"""Where Helm charts come from: one table of pinned sources, overridable by a file. Fetching is `chart_files`' work.

Digests and trees were read in the publishers' own repositories. A row without one is unverified and refused.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from instantstart.core.problem import define

CHART_UNVERIFIED = define(
    "chart_unverified",
    409,
    "The chart's source is pinned by neither digest nor tree",
    "Pin it in the file that the setting chart_sources names: sha256 of the package, or commit and tree of the folder.",
)
CHART_UNKNOWN = define("chart_unknown", 500, "There is no such chart in the table")


class ChartSource(BaseModel):
    """One chart: a package by URL and sha256, or a folder of a git repository by commit and tree id."""

    model_config = ConfigDict(extra="forbid")

    version: str = Field(description="As the publisher names it; for a folder without versions, its commit.")
    url: str = Field(description="A packaged chart (.tgz), or an archive of the repository at the commit.")
    sha256: str | None = Field(default=None, description="Of the package; what the publisher's index says.")
    folder: str | None = Field(default=None, description="Path of the chart in the archive; only for repositories.")
    commit: str | None = None
    tree: str | None = Field(default=None, description="Git tree id of the folder, computed from what was downloaded.")
    leave_out: list[str] = Field(default_factory=list, description="Files of the folder that Helm is not given.")
    bring: dict[str, str] = Field(
        default_factory=dict, description="Files to put in: path in the folder to row of the table."
    )
    drop_dependencies: list[str] = Field(
        default_factory=list, description="Dependencies that are off and not packaged; Helm would miss them."
    )

    @property
    def pin(self) -> str | None:
        """What the content is checked against; None when nothing is known."""
        return self.tree if self.folder else self.sha256

    @property
    def mark(self) -> str:
        """Short name of exactly this content, fit for a Kubernetes label."""
        return (self.pin or f"unverified-{self.version}")[:40]


class ChartTable:
    """The sources by name."""

    def __init__(self, rows: dict[str, ChartSource], *, allow_unverified: bool = False) -> None:
        self.rows, self.allow_unverified = rows, allow_unverified

    def source(self, name: str) -> ChartSource:
        """The row. Raises chart_unknown, or chart_unverified when it has no pin and that is not allowed."""
        row = self.rows.get(name)
        if row is None:
            raise CHART_UNKNOWN(f"There is no chart {name} in the table of chart sources.")
        if row.pin is None and not self.allow_unverified:
            raise CHART_UNVERIFIED(f"The source of chart {name} ({row.url}) has no digest and no tree id.")
        return row


HYPERPOD_CHART = "hyperpod-dependencies"
_HYPERPOD_COMMIT = "011ca927123e02b35a399935bbb3ab1905fe33c7"
PINNED: dict[str, dict[str, Any]] = {
    HYPERPOD_CHART: {
        "version": _HYPERPOD_COMMIT,
        "url": f"https://codeload.github.com/aws/sagemaker-hyperpod-cli/tar.gz/{_HYPERPOD_COMMIT}",
        "folder": "helm_chart/HyperPodHelmChart",
        "commit": _HYPERPOD_COMMIT,
        "tree": "1dbdb6e41774ff5d699348a132cd08c3b2d24daf",
        "leave_out": ["charts/health-monitoring-agent-0.1.0.tgz"],
        "bring": {
            "charts/nvidia-device-plugin-0.16.1.tgz": "nvidia-device-plugin",
            "charts/aws-efa-k8s-device-plugin-v0.5.20.tgz": "aws-efa-k8s-device-plugin",
        },
        "drop_dependencies": ["cert-manager"],
    },
    "nvidia-device-plugin": {
        "version": "0.16.1",
        "url": "https://nvidia.github.io/k8s-device-plugin/stable/nvidia-device-plugin-0.16.1.tgz",
        "sha256": "a77b4e81fd56a11e39536500a7a6538899b952c4b4370200280bce313dffda6a",
    },
    "aws-efa-k8s-device-plugin": {
        "version": "v0.5.20",
        "url": "https://aws.github.io/eks-charts/aws-efa-k8s-device-plugin-v0.5.20.tgz",
        "sha256": "252967e2083799987d576ac86986b3316ce350dd1da2d07a8b83b5c4288fbcf4",
    },
    "aws-load-balancer-controller": {
        "version": "3.5.0",
        "url": "https://aws.github.io/eks-charts/aws-load-balancer-controller-3.5.0.tgz",
        "sha256": "45051f634b33e10baccb3354d0681b7de787c60445e599fa276e0c9aedd4ccd5",
    },
    "kuberay-operator": {
        "version": "1.4.2",
        "url": "https://github.com/ray-project/kuberay-helm/releases/download/kuberay-operator-1.4.2/kuberay-operator-1.4.2.tgz",
        "sha256": "4a36c3c08dd799d3384f50f3744183dd7c89cf4f1540ea93450acaacf557562b",
    },
    "keda": {
        "version": "2.20.2",
        "url": "https://kedacore.github.io/charts/keda-2.20.2.tgz",
        "sha256": "db60b1fa60f0565fefa4ce2f87e855b6a8854363ee82962fbe28a12a70d64c4c",
    },
}


def load_charts(path: str | None, *, allow_unverified: bool = False) -> ChartTable:
    """The pinned table; rows of the JSON file at `path` (name to row) replace its rows. Raises ValueError naming it."""
    rows = {name: ChartSource(**row) for name, row in PINNED.items()}
    if path:
        try:
            given = json.loads(Path(path).read_text())
            rows |= {name: ChartSource(**row) for name, row in given.items()}
        except (OSError, json.JSONDecodeError, AttributeError, TypeError, ValidationError) as error:
            raise ValueError(f"chart_sources: {path} cannot be used: {error}") from error
    return ChartTable(rows, allow_unverified=allow_unverified)
