"""Everything that makes a cluster live: nodes, scheduler, kubelets, controllers, mounts, add-on workloads.

All of it is level-triggered: work looks at the world and changes what differs. Nothing sleeps, nothing is kept in
memory alone that a restart would miss.
"""

from instantstart_sandbox.controllers.api import AwsFacts
from instantstart_sandbox.controllers.plane import Plane
from instantstart_sandbox.controllers.routing import Controllers
from instantstart_sandbox.kube.objects import KubeApi
from instantstart_sandbox.workloads import Behaviours
from instantstart_sandbox.workloads.table import standard
from instantstart_sandbox.world import World


def install(world: World, kube: KubeApi, aws: AwsFacts, behaviours: Behaviours | None = None) -> Controllers:
    """Register all controllers with the world and have them look at everything once (on the next drain).

    `behaviours` say what containers do; the standard table when None.
    """
    controllers = Controllers(Plane(world, kube, aws), behaviours or standard())
    controllers.start()
    return controllers


__all__ = ["AwsFacts", "Controllers", "install"]
