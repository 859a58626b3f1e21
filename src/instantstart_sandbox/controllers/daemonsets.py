"""DaemonSets: one pod on each node that the template fits. Nodes are looked at one by one, so that a thousand are cheap."""

from __future__ import annotations

from typing import Any

from instantstart_sandbox.controllers import filters
from instantstart_sandbox.controllers.deployments import resolve, template_hash
from instantstart_sandbox.controllers.index import finished, node_of
from instantstart_sandbox.controllers.plane import Plane, controller_of, join, pod_ready, split
from instantstart_sandbox.controllers.replicas import LARGE, create_pod, delete_pod
from instantstart_sandbox.kube.canonical import empty_copy

Obj = dict[str, Any]
_STATUS_SECONDS = 1.0
_TEMPLATES = 200
HASH = "controller-revision-hash"
_EXISTS = (
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
)


def daemon_template(owner: Obj) -> Obj:
    """The template with the tolerations that every DaemonSet's pod gets."""
    template = empty_copy(owner["spec"]["template"])
    spec = template["spec"]
    marks = [*_EXISTS, *([("node.kubernetes.io/network-unavailable", "NoSchedule")] if spec.get("hostNetwork") else [])]
    tolerations = list(spec.get("tolerations") or [])
    for key, effect in marks:
        wanted = {"key": key, "operator": "Exists", "effect": effect}
        if wanted not in tolerations:
            tolerations.append(wanted)
    spec["tolerations"] = tolerations
    found: Obj = template
    return found


def pinned(spec: Obj, node: str) -> Obj:
    """The affinity for one node: required to its name, together with what the template asks."""
    affinity = dict(spec.get("affinity") or {})
    near = dict(affinity.get("nodeAffinity") or {})
    field = [{"key": "metadata.name", "operator": "In", "values": [node]}]
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    terms = (near.get(required) or {}).get("nodeSelectorTerms") or [{}]
    near[required] = {"nodeSelectorTerms": [{**t, "matchFields": field} for t in terms]}
    affinity["nodeAffinity"] = near
    return affinity


class DaemonSets:
    """Reconciles DaemonSets; `kube.daemon` has keys `cluster/namespace/name` and `…/node`."""

    component = "daemonset-controller"
    resource = "daemonsets.apps"

    def __init__(self, plane: Plane) -> None:
        self.plane, self.world, self.kube = plane, plane.world, plane.kube
        self._templates: dict[tuple[str, int], Obj] = {}
        self.world.work.on("kube.daemonset", self._sync)
        self.world.work.on("kube.daemon", self._node)
        self.world.work.on("kube.daemonset.status", self._status_work)
        self.world.timers.on("kube.daemonset.later", self._later)

    def _later(self, key: str, _payload: Obj) -> None:
        self.world.work.enqueue("kube.daemonset.status", key)

    def node_changed(self, cluster: str, event: str, node: Obj, old: Obj | None) -> None:
        """A node that is new, gone, or has other labels or taints."""
        if event == "MODIFIED" and old is not None and old["spec"].get("taints") == node["spec"].get("taints"):
            if old["metadata"].get("labels") == node["metadata"].get("labels"):
                return
        for owner in self.kube.list(cluster, self.resource):
            key = join(cluster, owner)
            if event != "DELETED":
                self.world.work.enqueue("kube.daemon", f"{key}/{node['metadata']['name']}")
            self._soon(cluster, owner, key)

    def pod_changed(self, cluster: str, event: str, pod: Obj) -> None:
        """A daemon pod changed: its node may need another, and the counts change."""
        owner = controller_of(pod)
        if owner is None or owner["kind"] != "DaemonSet":
            return
        key = f"{cluster}/{pod['metadata']['namespace']}/{owner['name']}"
        found = self.kube.get(cluster, self.resource, pod["metadata"]["namespace"], owner["name"])
        if found is None:
            return
        if event == "DELETED" or finished(pod):
            node = node_of(pod)
            if node:
                self.world.work.enqueue("kube.daemon", f"{key}/{node}")
        self._soon(cluster, found, key)

    def _soon(self, cluster: str, owner: Obj, key: str) -> None:
        if len(self.plane.index.of(cluster).children.get(owner["metadata"]["uid"], ())) <= LARGE:
            self.world.work.enqueue("kube.daemonset.status", key)
        elif not self.world.timers.pending("kube.daemonset.later", key):
            self.world.timers.after(_STATUS_SECONDS, "kube.daemonset.later", key)

    def _sync(self, key: str) -> None:
        """The DaemonSet itself changed: look at every node, then at what rolls."""
        cluster, namespace, name = split(key)
        owner = self.kube.get(cluster, self.resource, namespace, name)
        if owner is None or "deletionTimestamp" in owner["metadata"]:
            return
        for node in self.kube.list(cluster, "nodes"):
            self.world.work.enqueue("kube.daemon", f"{key}/{node['metadata']['name']}")
        self.world.work.enqueue("kube.daemonset.status", key)

    def _template(self, owner: Obj) -> Obj:
        key = (owner["metadata"]["uid"], owner["metadata"].get("generation", 1))
        found = self._templates.get(key)
        if found is None:
            if len(self._templates) > _TEMPLATES:
                self._templates.clear()
            found = self._templates[key] = daemon_template(owner)
        return found

    def _node(self, key: str) -> None:
        head, _, node_name = key.rpartition("/")
        cluster, namespace, name = split(head)
        owner = self.kube.get(cluster, self.resource, namespace, name)
        node = self.kube.get(cluster, "nodes", None, node_name)
        if owner is None or node is None or "deletionTimestamp" in owner["metadata"]:
            return
        template = self._template(owner)
        runs, stays = fits(template["spec"], node)
        here = self.plane.index.of(cluster).daemons.get((owner["metadata"]["uid"], node_name), {})
        pods = [here[k] for k in sorted(here)]
        live = [p for p in pods if not finished(p) and "deletionTimestamp" not in p["metadata"]]
        for pod in pods:
            if finished(pod) and "deletionTimestamp" not in pod["metadata"]:
                delete_pod(self.plane, cluster, owner, pod, self.component)
        if runs and not live and not any("deletionTimestamp" in p["metadata"] for p in pods):
            labels = {HASH: template_hash(owner["spec"]["template"], 9), "pod-template-generation": _generation(owner)}
            affinity = pinned(template["spec"], node_name)
            create_pod(self.plane, cluster, owner, template, self.component, affinity=affinity, labels=labels)
        elif live and not stays:
            for pod in live:
                delete_pod(self.plane, cluster, owner, pod, self.component)

    # status and rolling

    def _status_work(self, key: str) -> None:
        cluster, namespace, name = split(key)
        owner = self.kube.get(cluster, self.resource, namespace, name)
        if owner is None:
            return
        spec = self._template(owner)["spec"]
        nodes = self.kube.list(cluster, "nodes")
        wanted = {n["metadata"]["name"] for n in nodes if fits(spec, n)[0]}
        pods = [
            p
            for p in self.plane.index.owned(cluster, owner["metadata"]["uid"], "pods")
            if not finished(p) and "deletionTimestamp" not in p["metadata"]
        ]
        placed = [p for p in pods if node_of(p) in wanted]
        mark = template_hash(owner["spec"]["template"], 9)
        ready = [p for p in placed if pod_ready(p)]
        status: Obj = {
            "currentNumberScheduled": len({node_of(p) for p in placed}),
            "numberMisscheduled": len(pods) - len(placed),
            "desiredNumberScheduled": len(wanted),
            "numberReady": len(ready),
            "observedGeneration": owner["metadata"].get("generation", 1),
            "updatedNumberScheduled": len([p for p in placed if p["metadata"]["labels"].get(HASH) == mark]),
            "numberAvailable": len(ready),
            "numberUnavailable": len(wanted) - len(ready),
        }
        kept = ("currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady")
        status = {k: v for k, v in status.items() if v or k in kept}
        self.plane.status(cluster, self.resource, owner, status)
        if "deletionTimestamp" not in owner["metadata"]:
            self._roll(cluster, owner, placed, len(wanted), mark)

    def _roll(self, cluster: str, owner: Obj, pods: list[Obj], wanted: int, mark: str) -> None:
        strategy = owner["spec"].get("updateStrategy") or {}
        if strategy.get("type", "RollingUpdate") != "RollingUpdate":
            return
        old = [p for p in pods if p["metadata"]["labels"].get(HASH) != mark]
        if not old:
            return
        room = resolve((strategy.get("rollingUpdate") or {}).get("maxUnavailable", 1), wanted, True) or 1
        down = wanted - len([p for p in pods if pod_ready(p)])
        for pod in sorted(old, key=pod_ready):
            if pod_ready(pod):
                if down >= room:
                    return
                down += 1
            delete_pod(self.plane, cluster, owner, pod, self.component)


def fits(spec: Obj, node: Obj) -> tuple[bool, bool]:
    """(whether a new pod belongs on the node, whether one that is there may stay)."""
    if not filters.selects(spec, node):
        return False, False
    tolerations, taints = spec.get("tolerations") or [], node["spec"].get("taints") or []
    bad = [t for t in taints if t["effect"] != "PreferNoSchedule" and filters.tolerates(tolerations, t) is None]
    return not bad, not any(t["effect"] == "NoExecute" for t in bad)


def _generation(owner: Obj) -> str:
    notes = owner["metadata"].get("annotations") or {}
    return str(notes.get("deprecated.daemonset.template.generation", owner["metadata"].get("generation", 1)))
