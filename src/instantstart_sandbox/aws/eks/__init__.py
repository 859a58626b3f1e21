"""EKS, as far as creating, reading and ending clusters for HyperPod needs it."""

from __future__ import annotations

from instantstart_sandbox.aws.eks.clusters import Clusters
from instantstart_sandbox.aws.eks.parts import Parts
from instantstart_sandbox.aws.registry import Handler


class Eks:
    """The service's table."""

    service = "eks"

    def __init__(self, parts: Parts) -> None:
        self.operations: dict[str, Handler] = {}
        for part in (Clusters(parts),):
            self.operations.update(part.operations)
