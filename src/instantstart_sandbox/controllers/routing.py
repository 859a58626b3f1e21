"""Brings each change of an object to the controllers that care, and has everything looked at once after a start."""

from __future__ import annotations

from typing import Any

from instantstart_sandbox.controllers.addons import Addons
from instantstart_sandbox.controllers.claims import CLAIMS, VOLUMES, Binder
from instantstart_sandbox.controllers.daemonsets import DaemonSets
from instantstart_sandbox.controllers.deployments import Deployments
from instantstart_sandbox.controllers.endpoints import EndpointLists
from instantstart_sandbox.controllers.eviction import Eviction
from instantstart_sandbox.controllers.garbage import Garbage, Namespaces
from instantstart_sandbox.controllers.index import finished
from instantstart_sandbox.controllers.jobs import Jobs
from instantstart_sandbox.controllers.kubelet import Kubelet
from instantstart_sandbox.controllers.nodes import Nodes
from instantstart_sandbox.controllers.plane import Plane, controller_of, join
from instantstart_sandbox.controllers.replicas import ReplicaSets
from instantstart_sandbox.controllers.scheduler import Scheduler
from instantstart_sandbox.controllers.statefulsets import StatefulSets
from instantstart_sandbox.workloads import Behaviours

Obj = dict[str, Any]
_OWN_WORK = {
    "deployments.apps": "kube.deployment",
    "replicasets.apps": "kube.replicaset",
    "daemonsets.apps": "kube.daemonset",
    "statefulsets.apps": "kube.statefulset",
    "jobs.batch": "kube.job",
}
_STATUS_ONLY = {"deployments.apps", "daemonsets.apps"}


class Controllers:
    """All controllers of all clusters, subscribed to the objects."""

    def __init__(self, plane: Plane, behaviours: Behaviours) -> None:
        self.plane, self.world, self.kube = plane, plane.world, plane.kube
        self.nodes = Nodes(plane)
        self.kubelet = Kubelet(plane, behaviours)
        self.scheduler = Scheduler(plane, self.kubelet.settle)
        self.replicasets, self.deployments = ReplicaSets(plane), Deployments(plane)
        self.daemonsets, self.statefulsets, self.jobs = DaemonSets(plane), StatefulSets(plane), Jobs(plane)
        self.binder, self.garbage, self.namespaces = Binder(plane), Garbage(plane), Namespaces(plane)
        self.endpoints, self.eviction, self.addons = EndpointLists(plane), Eviction(plane), Addons(plane)
        self.kube.subscribe(self._changed)

    def start(self) -> None:
        """Look at everything: what changed while no process ran, or was queued when the last one was killed."""
        self.nodes.start()
        self.addons.start()
        for cluster in self.kube.clusters():
            for resource, name in _OWN_WORK.items():
                for obj in self.kube.list(cluster, resource):
                    self.world.work.enqueue(name, join(cluster, obj))
            for space in self.kube.list(cluster, "namespaces"):
                self.namespaces.changed(cluster, "MODIFIED", space)
            for service in self.kube.list(cluster, "services"):
                self.endpoints.service_changed(cluster, "MODIFIED", service, None)
            for claim in self.kube.list(cluster, CLAIMS):
                self.binder.claim_changed(cluster, "MODIFIED", claim, None)
            state = self.kube.engine.cluster(cluster)
            for resource, table in state.tables.items():
                for entry in table.entries.values() if resource != "events" else ():
                    self.garbage.changed(cluster, resource, "MODIFIED", entry.obj)
        self.kubelet.start()
        self.scheduler.start()

    def _changed(self, cluster: str, resource: str, event: str, obj: Obj, old: Obj | None) -> None:
        if resource == "events":
            if event == "DELETED":
                self.namespaces.content_changed(cluster, event, obj)
            return
        self.plane.index.change(cluster, resource, event, obj, old)
        if resource == "pods":
            self._pod(cluster, event, obj, old)
        elif resource == "nodes":
            for part in (self.nodes, self.daemonsets, self.eviction, self.scheduler):
                part.node_changed(cluster, event, obj, old)
            if event == "DELETED":
                self.kubelet.images.forget(cluster, obj["metadata"]["name"])
        elif resource in _OWN_WORK:
            self._workload(cluster, resource, event, obj, old)
        elif resource == "services":
            self.endpoints.service_changed(cluster, event, obj, old)
        elif resource == CLAIMS:
            self.binder.claim_changed(cluster, event, obj, old)
            self.scheduler.again(cluster)
        elif resource == VOLUMES:
            self.binder.volume_changed(cluster, event, obj, old)
        elif resource == "namespaces":
            self.namespaces.changed(cluster, event, obj)
        elif resource == "poddisruptionbudgets.policy":
            self.eviction.budget_changed(cluster, event, obj)
        self.garbage.changed(cluster, resource, event, obj)
        self.namespaces.content_changed(cluster, event, obj)

    def _pod(self, cluster: str, event: str, pod: Obj, old: Obj | None) -> None:
        self.nodes.pod_changed(cluster, event, pod, old)
        self.kubelet.pod_changed(cluster, event, pod, old)
        self.scheduler.pod_changed(cluster, event, pod, old)
        self.replicasets.pod_changed(cluster, pod)
        self.daemonsets.pod_changed(cluster, event, pod)
        self.statefulsets.pod_changed(cluster, pod)
        self.jobs.pod_changed(cluster, pod)
        self.endpoints.pod_changed(cluster, event, pod, old)
        self.eviction.pod_changed(cluster, event, pod, old)
        if event == "DELETED" or (finished(pod) and (old is None or not finished(old))):
            self.binder.pod_changed(cluster, pod)

    def _workload(self, cluster: str, resource: str, event: str, obj: Obj, old: Obj | None) -> None:
        status_only = (
            old is not None
            and old["spec"] == obj["spec"]
            and old["metadata"].get("annotations") == obj["metadata"].get("annotations")
        )
        if event != "DELETED" and not (status_only and resource in _STATUS_ONLY):
            self.world.work.enqueue(_OWN_WORK[resource], join(cluster, obj))
        owner = controller_of(obj)
        if resource == "replicasets.apps" and owner is not None and owner["kind"] == "Deployment":
            self.world.work.enqueue("kube.deployment", f"{cluster}/{obj['metadata']['namespace']}/{owner['name']}")
        self.addons.workload_changed(cluster, obj)
