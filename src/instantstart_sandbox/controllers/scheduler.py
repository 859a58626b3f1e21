"""The scheduler: puts pending pods on nodes, or says in its own words why it cannot. It does not preempt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from instantstart_sandbox.controllers import filters, spread
from instantstart_sandbox.controllers.index import ClusterIndex, finished, pinned_node
from instantstart_sandbox.controllers.plane import Plane, condition, split, with_condition

Obj = dict[str, Any]
_ENOUGH = 100
"""So many fitting nodes are compared; a search begins where the last one ended."""
_RETRY_SECONDS = 1.0
_FILTERED = "node is filtered out by the prefilter result"
NO_NODES = "no nodes available to schedule pods"


class Unfit(Exception):  # noqa: N818 - a result, not a failure
    """The pod cannot be placed anywhere; the text is the condition's message."""


class Scheduler:
    """Looks at one pod at a time; nodes and pods that go make it look at the pending ones again."""

    def __init__(self, plane: Plane, settle: Callable[[str, Obj, Obj], Obj]) -> None:
        """`settle(cluster, pod, node)` gives the pod as the node's kubelet first shows it."""
        self.plane, self.world, self.kube, self._settle = plane, plane.world, plane.kube, settle
        self._start: dict[str, int] = {}
        self.world.work.on("kube.schedule", self._one)
        self.world.timers.on("kube.schedule.retry", self._retry)

    def start(self) -> None:
        """Look at all pending pods."""
        for cluster in self.kube.clusters():
            self._all(cluster)

    def _all(self, cluster: str) -> None:
        for namespace, name in sorted(self.plane.index.of(cluster).pending):
            self.world.work.enqueue("kube.schedule", f"{cluster}/{namespace}/{name}")

    def _retry(self, cluster: str, _payload: Obj) -> None:
        self._all(cluster)

    def again(self, cluster: str) -> None:
        """Something changed that may let pending pods in: look again soon."""
        if self.plane.index.of(cluster).pending and not self.world.timers.pending("kube.schedule.retry", cluster):
            self.world.timers.after(_RETRY_SECONDS, "kube.schedule.retry", cluster)

    def pod_changed(self, cluster: str, event: str, pod: Obj, old: Obj | None) -> None:
        """A new pod, one without its gates, or one that makes room."""
        meta = pod["metadata"]
        if event == "DELETED":
            self.again(cluster)
        elif not pod["spec"].get("nodeName"):
            if old is None or old["spec"] != pod["spec"] or old["metadata"].get("labels") != meta.get("labels"):
                self.world.work.enqueue("kube.schedule", f"{cluster}/{meta['namespace']}/{meta['name']}")
        elif old is not None and finished(pod) and not finished(old):
            self.again(cluster)

    def node_changed(self, cluster: str, event: str, node: Obj, old: Obj | None) -> None:
        """A node that is new or offers something else."""
        if event == "DELETED":
            return
        same = old is not None and old["spec"] == node["spec"]
        if same and old is not None and old["status"].get("allocatable") == node["status"].get("allocatable"):
            if old["metadata"].get("labels") == node["metadata"].get("labels"):
                return
        self.again(cluster)

    # one pod

    def _one(self, key: str) -> None:
        cluster, namespace, name = split(key)
        pod = self.kube.get(cluster, "pods", namespace, name)
        if pod is None or pod["spec"].get("nodeName") or finished(pod) or "deletionTimestamp" in pod["metadata"]:
            return
        if pod["spec"].get("schedulingGates") or pod["spec"].get("schedulerName") != "default-scheduler":
            return
        try:
            node = self._place(cluster, pod)
        except Unfit as reason:
            self._refuse(cluster, pod, str(reason))
            return
        self._bind(cluster, pod, node)

    def _bind(self, cluster: str, pod: Obj, node: Obj) -> None:
        name = node["metadata"]["name"]
        status = pod["status"]
        scheduled = {"type": "PodScheduled", "status": "True", "lastProbeTime": None}
        status = {**status, "conditions": with_condition(status, scheduled, self.plane.now())}
        bound = {**pod, "spec": {**pod["spec"], "nodeName": name}, "status": status}
        new = self.plane.write(cluster, "pods", self._settle(cluster, bound, node), pod)
        where = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
        told = f"Successfully assigned {where} to {name}"
        self.plane.event(cluster, new, "Scheduled", told, component="default-scheduler")

    def _refuse(self, cluster: str, pod: Obj, message: str) -> None:
        old = condition(pod["status"], "PodScheduled")
        wanted = {
            "type": "PodScheduled",
            "status": "False",
            "lastProbeTime": None,
            "reason": "Unschedulable",
            "message": message,
        }
        status = {**pod["status"], "conditions": with_condition(pod["status"], wanted, self.plane.now())}
        pod = self.plane.status(cluster, "pods", pod, status)
        if old is None or old.get("message") != message:
            self.plane.event(cluster, pod, "FailedScheduling", message, warning=True, component="default-scheduler")

    def _place(self, cluster: str, pod: Obj) -> Obj:
        total = len(self.kube.engine.cluster(cluster).table("nodes").entries)
        if not total:
            raise Unfit(NO_NODES)
        ask = filters.Ask(pod)
        ask.volume_terms = self._volumes(cluster, pod, total)
        pinned = pinned_node(ask.spec)
        if pinned is None:
            nodes = self.kube.list(cluster, "nodes")
        else:
            nodes = [n for n in (self.kube.get(cluster, "nodes", None, pinned),) if n is not None]
        return self._search(cluster, ask, nodes, self.plane.index.of(cluster), total)

    def _search(self, cluster: str, ask: filters.Ask, nodes: list[Obj], at: ClusterIndex, total: int) -> Obj:
        checks = spread.checks(self.kube, cluster, ask.pod, at.repelling)
        why: Counter[str] = Counter()
        helpless, fitting = total - len(nodes), []
        begin = self._start.get(cluster, 0) % len(nodes) if nodes else 0
        for step in range(len(nodes)):
            node = nodes[(begin + step) % len(nodes)]
            reasons = filters.refusals(ask, node, at.usage.get(node["metadata"]["name"]))
            soft = filters.resolvable(reasons)
            if not reasons:
                reasons = [reason for check in checks if (reason := check(node)) is not None][:1]
            if not reasons:
                fitting.append(node)
                if len(fitting) >= _ENOUGH:
                    self._start[cluster] = begin + step + 1
                    break
            else:
                why.update(reasons)
                helpless += not soft
        if not fitting:
            if total > len(nodes):
                why[_FILTERED] += total - len(nodes)
            raise Unfit(_message(why, total, helpless))
        return min(fitting, key=lambda n: self._rank(ask, n, at))

    @staticmethod
    def _rank(ask: filters.Ask, node: Obj, at: ClusterIndex) -> tuple[float, float, str]:
        name = node["metadata"]["name"]
        return (-filters.preference(ask, node), filters.share(node, at.usage.get(name)), name)

    def _volumes(self, cluster: str, pod: Obj, total: int) -> list[Obj]:
        terms: list[Obj] = []
        for volume in pod["spec"].get("volumes") or ():
            source = volume.get("persistentVolumeClaim")
            if source is None:
                continue
            name = source["claimName"]
            claim = self.kube.get(cluster, "persistentvolumeclaims", pod["metadata"]["namespace"], name)
            if claim is None:
                raise Unfit(_whole(f'persistentvolumeclaim "{name}" not found', total))
            if "deletionTimestamp" in claim["metadata"]:
                raise Unfit(_whole(f'persistentvolumeclaim "{name}" is being deleted', total))
            if (claim.get("status") or {}).get("phase") != "Bound":
                raise Unfit(_whole("pod has unbound immediate PersistentVolumeClaims", total))
            volume_object = self.kube.get(cluster, "persistentvolumes", None, claim["spec"].get("volumeName", ""))
            required = ((volume_object or {}).get("spec", {}).get("nodeAffinity") or {}).get("required")
            if required:
                terms.append(required)
        return terms


def _whole(reason: str, total: int) -> str:
    return f"0/{total} nodes are available: {reason}. preemption: 0/{total} nodes are available: {total} Preemption is not helpful for scheduling."


def _message(why: Counter[str], total: int, helpless: int) -> str:
    told = ", ".join(sorted(f"{count} {reason}" for reason, count in why.items()))
    left = [f"{total - helpless} No preemption victims found for incoming pod"] if total > helpless else []
    left += [f"{helpless} Preemption is not helpful for scheduling"] if helpless else []
    head = f"0/{total} nodes are available: {told}. no new claims to deallocate, "
    return f"{head}preemption: 0/{total} nodes are available: {', '.join(sorted(left))}."
