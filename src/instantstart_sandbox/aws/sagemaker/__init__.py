"""SageMaker, as far as it is HyperPod: clusters, groups, nodes, events, training plans."""

from __future__ import annotations

from instantstart_sandbox.aws.outside import Outside
from instantstart_sandbox.aws.registry import Handler
from instantstart_sandbox.aws.sagemaker.clusters import Clusters
from instantstart_sandbox.aws.sagemaker.events import Events
from instantstart_sandbox.aws.sagemaker.fleet import Fleet
from instantstart_sandbox.aws.sagemaker.nodes import Nodes
from instantstart_sandbox.aws.sagemaker.parts import Parts
from instantstart_sandbox.aws.sagemaker.plans import Plans
from instantstart_sandbox.aws.sagemaker.settling import Settling
from instantstart_sandbox.aws.sagemaker.tags import Tags
from instantstart_sandbox.aws.sagemaker.updates import Updates
from instantstart_sandbox.kube.objects import KubeApi
from instantstart_sandbox.world import World


class SageMaker:
    """The service's table."""

    service = "sagemaker"

    def __init__(self, world: World, outside: Outside, kube: KubeApi) -> None:
        parts = Parts(world, outside, kube)
        events = Events(parts)
        fleet = Fleet(parts, events)
        Settling(parts, events, fleet)
        self.operations: dict[str, Handler] = {}
        clusters, updates = Clusters(parts, events, fleet), Updates(parts, events, fleet)
        for part in (events, Plans(parts), clusters, updates, Nodes(parts, fleet), Tags(parts)):
            self.operations.update(part.operations)
