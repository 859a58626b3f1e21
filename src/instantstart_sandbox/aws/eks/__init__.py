"""EKS, as far as creating, reading and ending clusters for HyperPod needs it."""

from __future__ import annotations

from instantstart_sandbox.aws.eks.addon_health import AddonHealth
from instantstart_sandbox.aws.eks.addons import Addons
from instantstart_sandbox.aws.eks.clusters import Clusters
from instantstart_sandbox.aws.eks.entries import Entries
from instantstart_sandbox.aws.eks.parts import Parts
from instantstart_sandbox.aws.eks.pod_identity import PodIdentity
from instantstart_sandbox.aws.eks.surroundings import Surroundings
from instantstart_sandbox.aws.eks.updates import Updates
from instantstart_sandbox.aws.registry import Handler


class Eks:
    """The service's table."""

    service = "eks"

    def __init__(self, parts: Parts) -> None:
        identities, updates = PodIdentity(parts), Updates(parts)
        addons = Addons(parts, identities, updates)
        AddonHealth(parts)
        self.operations: dict[str, Handler] = {}
        for part in (Clusters(parts), Entries(parts), identities, updates, addons, Surroundings(parts)):
            self.operations.update(part.operations)
