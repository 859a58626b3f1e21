"""Pods that must leave: taints with NoExecute after their toleration's time, and disruption budgets' counts."""

from __future__ import annotations

from typing import Any

from instantstart_sandbox.controllers.deployments import resolve
from instantstart_sandbox.controllers.filters import tolerates
from instantstart_sandbox.controllers.index import finished
from instantstart_sandbox.controllers.plane import Plane, join, pod_ready, split, with_condition
from instantstart_sandbox.kube.selectors import label_match, parse_label_selector

Obj = dict[str, Any]
_BUDGETS = "poddisruptionbudgets.policy"


class Eviction:
    """Taint-based eviction and PodDisruptionBudget status."""

    def __init__(self, plane: Plane) -> None:
        self.plane, self.world, self.kube = plane, plane.world, plane.kube
        self.world.work.on("kube.taints", self._taints)
        self.world.work.on("kube.budget", self._budget)
        self.world.timers.on("kube.evict", self._evict)
        self.world.timers.on("kube.budget.later", self._later)

    def _later(self, key: str, _payload: Obj) -> None:
        self.world.work.enqueue("kube.budget", key)

    def node_changed(self, cluster: str, event: str, node: Obj, old: Obj | None) -> None:
        """A node's NoExecute taints changed; or the node is gone, and its pods with it."""
        key = f"{cluster}/{node['metadata']['name']}"
        if event == "DELETED" or _expelling(node) != (_expelling(old) if old is not None else []):
            self.world.work.enqueue("kube.taints", key)

    def pod_changed(self, cluster: str, event: str, pod: Obj, old: Obj | None) -> None:
        """A pod came to a node, or counts for a budget."""
        node = pod["spec"].get("nodeName")
        if event != "DELETED" and node and (old is None or not old["spec"].get("nodeName")):
            found = self.kube.get(cluster, "nodes", None, node)
            if found is not None and _expelling(found):
                self.world.work.enqueue("kube.taints", f"{cluster}/{node}")
        if event == "MODIFIED" and old is not None and pod_ready(pod) == pod_ready(old):
            return
        for budget in self.kube.list(cluster, _BUDGETS, pod["metadata"]["namespace"]):
            key = join(cluster, budget)
            if not self.world.timers.pending("kube.budget.later", key):
                self.world.timers.after(1.0, "kube.budget.later", key)

    def _taints(self, key: str) -> None:
        cluster, _, name = key.partition("/")
        node = self.kube.get(cluster, "nodes", None, name)
        for pod in self.kube.list(cluster, "pods", fields={"spec.nodeName": name}):
            if node is None:
                self.world.work.enqueue("kube.kubelet", join(cluster, pod))
                continue
            wait = _leave_after(pod, _expelling(node))
            place = join(cluster, pod)
            if wait is None:
                if self.world.timers.pending("kube.evict", place):
                    self.world.timers.cancel("kube.evict", place)
            elif not self.world.timers.pending("kube.evict", place):
                self.world.timers.after(wait, "kube.evict", place, uid=pod["metadata"]["uid"])

    def _evict(self, key: str, payload: Obj) -> None:
        cluster, namespace, name = split(key)
        pod = self.kube.get(cluster, "pods", namespace, name)
        if pod is None or pod["metadata"]["uid"] != payload["uid"] or "deletionTimestamp" in pod["metadata"]:
            return
        node = self.kube.get(cluster, "nodes", None, pod["spec"].get("nodeName", ""))
        if node is None or _leave_after(pod, _expelling(node)) is None:
            return
        text = f"Marking for deletion Pod {namespace}/{name}"
        self.plane.event(cluster, pod, "TaintManagerEviction", text, component="taint-eviction-controller")
        self.kube.delete(cluster, "pods", namespace, name)

    def budget_changed(self, cluster: str, event: str, budget: Obj) -> None:
        """A budget is new or has other bounds."""
        if event != "DELETED":
            self.world.work.enqueue("kube.budget", join(cluster, budget))

    def _budget(self, key: str) -> None:
        cluster, namespace, name = split(key)
        budget = self.kube.get(cluster, _BUDGETS, namespace, name)
        if budget is None:
            return
        spec = budget["spec"]
        match = label_match(parse_label_selector(spec.get("selector")))
        pods = [p for p in self.kube.list(cluster, "pods", namespace) if match(p) and not finished(p)]
        healthy, total = len([p for p in pods if pod_ready(p)]), len(pods)
        if spec.get("maxUnavailable") is not None:
            desired = max(0, total - resolve(spec["maxUnavailable"], total, True))
        else:
            desired = resolve(spec.get("minAvailable", 1), total, True)
        allowed = max(0, healthy - desired) if total else 0
        now = self.plane.now()
        mark = {
            "type": "DisruptionAllowed",
            "status": "True" if allowed else "False",
            "reason": "SufficientPods" if allowed else "InsufficientPods",
            "message": "",
            "observedGeneration": budget["metadata"].get("generation", 1),
        }
        status = {
            "currentHealthy": healthy,
            "desiredHealthy": desired,
            "disruptionsAllowed": allowed,
            "expectedPods": total,
            "observedGeneration": budget["metadata"].get("generation", 1),
            "conditions": with_condition(budget.get("status") or {}, mark, now),
        }
        self.plane.status(cluster, _BUDGETS, budget, status)


def _expelling(node: Obj) -> list[Obj]:
    return [t for t in node["spec"].get("taints") or () if t["effect"] == "NoExecute"]


def _leave_after(pod: Obj, taints: list[Obj]) -> float | None:
    """Seconds after which the pod must go; None when it may stay."""
    waits: list[float] = []
    for taint in taints:
        found = tolerates(pod["spec"].get("tolerations") or [], taint)
        if found is None:
            return 0.0
        if found.get("tolerationSeconds") is not None:
            waits.append(float(found["tolerationSeconds"]))
    return min(waits) if waits else None
