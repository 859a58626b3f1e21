"""Deployments: one ReplicaSet per template, rolled over within surge and unavailability, with history and conditions."""

from __future__ import annotations

import hashlib
from typing import Any

import orjson

from instantstart_sandbox.controllers.plane import Plane, owner_reference, split, with_condition
from instantstart_sandbox.kube.canonical import empty_copy

Obj = dict[str, Any]
_SETS = "replicasets.apps"
_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
REVISION = "deployment.kubernetes.io/revision"


def template_hash(template: Obj, length: int = 10) -> str:
    """A short name of a pod template's content."""
    draw = hashlib.sha256(orjson.dumps(template, option=orjson.OPT_SORT_KEYS)).digest()
    return "".join(_LETTERS[b % len(_LETTERS)] for b in draw[:length])


def resolve(value: Any, total: int, up: bool) -> int:
    """An absolute number, or a percentage of `total` rounded up or down."""
    if isinstance(value, int):
        return value
    part = int(str(value).rstrip("%")) * total
    return -(-part // 100) if up else part // 100


class Deployments:
    """Reconciles Deployments."""

    component = "deployment-controller"
    resource = "deployments.apps"

    def __init__(self, plane: Plane) -> None:
        self.plane, self.world, self.kube = plane, plane.world, plane.kube
        self.world.work.on("kube.deployment", self._sync)
        self.world.timers.on("kube.deployment.deadline", self._deadline)

    def _deadline(self, key: str, _payload: Obj) -> None:
        self.world.work.enqueue("kube.deployment", key)

    def _sync(self, key: str) -> None:
        cluster, namespace, name = split(key)
        owner = self.kube.get(cluster, self.resource, namespace, name)
        if owner is None or "deletionTimestamp" in owner["metadata"]:
            return
        sets = self.plane.index.owned(cluster, owner["metadata"]["uid"], _SETS)
        mark = template_hash(owner["spec"]["template"])
        new = next((s for s in sets if s["metadata"]["labels"].get("pod-template-hash") == mark), None)
        if new is None and not owner["spec"].get("paused"):
            new = self._new_set(cluster, owner, sets, mark)
            if new is None:
                return
            sets = [*sets, new]
        old = [s for s in sets if new is None or s["metadata"]["uid"] != new["metadata"]["uid"]]
        if new is not None:
            owner, new = self._revision(cluster, owner, new, sets)
        if new is not None and not owner["spec"].get("paused"):
            self._roll(cluster, owner, new, old)
        elif new is not None:
            self._scale(cluster, owner, new, owner["spec"]["replicas"] - sum(_wanted(s) for s in old))
        sets = self.plane.index.owned(cluster, owner["metadata"]["uid"], _SETS)
        self._status(cluster, key, owner, sets, mark)
        self._history(cluster, owner, sets, mark)

    def _new_set(self, cluster: str, owner: Obj, sets: list[Obj], mark: str) -> Obj | None:
        meta, spec = owner["metadata"], owner["spec"]
        template = empty_copy(spec["template"])
        labels = {**(template["metadata"].get("labels") or {}), "pod-template-hash": mark}
        template["metadata"]["labels"] = labels
        selector = empty_copy(spec["selector"])
        selector["matchLabels"] = {**(selector.get("matchLabels") or {}), "pod-template-hash": mark}
        notes = {
            REVISION: str(max((_revision(s) for s in sets), default=0) + 1),
            "deployment.kubernetes.io/desired-replicas": str(spec["replicas"]),
            "deployment.kubernetes.io/max-replicas": str(spec["replicas"] + self._bounds(owner)[0]),
        }
        body = {
            "metadata": {
                "name": f"{meta['name']}-{mark}",
                "namespace": meta["namespace"],
                "labels": labels,
                "annotations": notes,
                "ownerReferences": [owner_reference(owner)],
            },
            "spec": {
                "replicas": 0,
                "selector": selector,
                "template": template,
                **({"minReadySeconds": spec["minReadySeconds"]} if spec.get("minReadySeconds") else {}),
            },
        }
        return self.plane.create(cluster, _SETS, body)

    def _revision(self, cluster: str, owner: Obj, new: Obj, sets: list[Obj]) -> tuple[Obj, Obj]:
        """The newest ReplicaSet carries the highest revision, also after a rollback; the Deployment repeats it."""
        highest = max(_revision(s) for s in sets)
        if _revision(new) < highest:
            notes = {**new["metadata"].get("annotations", {}), REVISION: str(highest + 1)}
            new = self.plane.write(cluster, _SETS, {**new, "metadata": {**new["metadata"], "annotations": notes}}, new)
        wanted = str(_revision(new))
        notes = owner["metadata"].get("annotations") or {}
        if notes.get(REVISION) != wanted:
            meta = {**owner["metadata"], "annotations": {**notes, REVISION: wanted}}
            owner = self.plane.write(cluster, self.resource, {**owner, "metadata": meta}, owner)
        return owner, new

    @staticmethod
    def _bounds(owner: Obj) -> tuple[int, int]:
        """(surge, unavailable) in pods."""
        spec = owner["spec"]
        rolling = (spec.get("strategy") or {}).get("rollingUpdate") or {}
        surge = resolve(rolling.get("maxSurge", "25%"), spec["replicas"], True)
        missing = resolve(rolling.get("maxUnavailable", "25%"), spec["replicas"], False)
        return surge, missing if surge or missing else 1

    def _roll(self, cluster: str, owner: Obj, new: Obj, old: list[Obj]) -> None:
        wanted = owner["spec"]["replicas"]
        if (owner["spec"].get("strategy") or {}).get("type") == "Recreate":
            for item in old:
                self._scale(cluster, owner, item, 0)
            if not any((s.get("status") or {}).get("replicas") for s in old):
                self._scale(cluster, owner, new, wanted)
            return
        surge, missing = self._bounds(owner)
        room = wanted + surge - sum(_wanted(s) for s in [new, *old])
        if _wanted(new) > wanted:
            self._scale(cluster, owner, new, wanted)
        elif _wanted(new) < wanted and room > 0:
            self._scale(cluster, owner, new, min(wanted, _wanted(new) + room))
        new = self.kube.get(cluster, _SETS, new["metadata"]["namespace"], new["metadata"]["name"]) or new
        unready = _wanted(new) - _available(new)
        spare = sum(_wanted(s) for s in [new, *old]) - (wanted - missing) - max(unready, 0)
        for item in sorted(old, key=_revision):
            broken = max(_wanted(item) - _available(item), 0)
            cut = min(_wanted(item), max(broken, 0)) if spare <= 0 else min(_wanted(item), max(spare, broken))
            if cut > 0:
                self._scale(cluster, owner, item, _wanted(item) - cut)
                spare -= max(cut - broken, 0)

    def _scale(self, cluster: str, owner: Obj, item: Obj, replicas: int) -> None:
        replicas, before = max(replicas, 0), _wanted(item)
        if replicas == before:
            return
        meta = {**item["metadata"], "generation": item["metadata"].get("generation", 1) + 1}
        spec = {**item["spec"], "replicas": replicas}
        self.plane.write(cluster, _SETS, {**item, "metadata": meta, "spec": spec}, item)
        way = "up" if replicas > before else "down"
        text = f"Scaled {way} replica set {item['metadata']['name']} from {before} to {replicas}"
        self.plane.event(cluster, owner, "ScalingReplicaSet", text, component=self.component)

    # status

    def _status(self, cluster: str, key: str, owner: Obj, sets: list[Obj], mark: str) -> None:
        spec, old = owner["spec"], owner.get("status") or {}
        new = next((s for s in sets if s["metadata"]["labels"].get("pod-template-hash") == mark), None)
        counts = {
            "replicas": sum(_have(s) for s in sets),
            "updatedReplicas": _have(new) if new else 0,
            "readyReplicas": sum((s.get("status") or {}).get("readyReplicas", 0) for s in sets),
            "availableReplicas": sum(_available(s) for s in sets),
        }
        counts["unavailableReplicas"] = max(0, max(spec["replicas"], counts["replicas"]) - counts["availableReplicas"])
        status: Obj = {"observedGeneration": owner["metadata"]["generation"], **{k: v for k, v in counts.items() if v}}
        if old.get("conditions"):
            status["conditions"] = old["conditions"]
        _, missing = self._bounds(owner)
        now = self.plane.now()
        fits = counts["availableReplicas"] >= spec["replicas"] - missing
        available = {
            "type": "Available",
            "status": "True" if fits else "False",
            "reason": "MinimumReplicasAvailable" if fits else "MinimumReplicasUnavailable",
            "message": f"Deployment {'has' if fits else 'does not have'} minimum availability.",
            "lastUpdateTime": now,
        }
        status["conditions"] = _kept_time(status, with_condition(status, available, now))
        progress = self._progress(key, owner, new, counts)
        status["conditions"] = _kept_time(status, with_condition(status, progress, now))
        self.plane.status(cluster, self.resource, owner, status)

    def _progress(self, key: str, owner: Obj, new: Obj | None, counts: dict[str, int]) -> Obj:
        spec, now = owner["spec"], self.plane.now()
        name = new["metadata"]["name"] if new else ""
        found: Obj = {"type": "Progressing", "status": "True", "lastUpdateTime": now}
        done = counts["updatedReplicas"] == spec["replicas"] == counts["replicas"] == counts["availableReplicas"]
        if done:
            if self.world.timers.pending("kube.deployment.deadline", key):
                self.world.timers.cancel("kube.deployment.deadline", key)
            text = f'ReplicaSet "{name}" has successfully progressed.'
            return {**found, "reason": "NewReplicaSetAvailable", "message": text}
        deadline = spec.get("progressDeadlineSeconds", 600)
        since = self._since(owner, new)
        if since >= deadline:
            text = f'ReplicaSet "{name}" has timed out progressing.'
            return {**found, "status": "False", "reason": "ProgressDeadlineExceeded", "message": text}
        if not self.world.timers.pending("kube.deployment.deadline", key):
            self.world.timers.after(deadline - since, "kube.deployment.deadline", key)
        return {**found, "reason": "ReplicaSetUpdated", "message": f'ReplicaSet "{name}" is progressing.'}

    def _since(self, owner: Obj, new: Obj | None) -> float:
        """Seconds since progress was last seen: the newest of the new ReplicaSet and its Ready pods."""
        if new is None:
            return 0.0
        times = [new["metadata"]["creationTimestamp"]]
        for item in (owner.get("status") or {}).get("conditions") or ():
            if item["type"] == "Progressing" and item["reason"] == "NewReplicaSetAvailable":
                return 0.0
            if item["type"] == "Available":
                times.append(item["lastTransitionTime"])
        return min(self.plane.age(t) for t in times)

    def _history(self, cluster: str, owner: Obj, sets: list[Obj], mark: str) -> None:
        empty = [
            s for s in sets if not _wanted(s) and not _have(s) and s["metadata"]["labels"]["pod-template-hash"] != mark
        ]
        limit = owner["spec"].get("revisionHistoryLimit", 10)
        for item in sorted(empty, key=_revision)[: max(0, len(empty) - limit)]:
            self.kube.delete(cluster, _SETS, item["metadata"]["namespace"], item["metadata"]["name"])


def _kept_time(status: Obj, conditions: list[Obj]) -> list[Obj]:
    """lastUpdateTime moves only when reason or status does."""
    former = {c["type"]: c for c in status.get("conditions") or ()}
    found = []
    for item in conditions:
        was = former.get(item["type"])
        if was is not None and all(was.get(k) == item.get(k) for k in ("status", "reason", "message")):
            item = {**item, "lastUpdateTime": was.get("lastUpdateTime")}
        found.append(item)
    return found


def _wanted(item: Obj) -> int:
    return int(item["spec"].get("replicas", 0))


def _have(item: Obj) -> int:
    return int((item.get("status") or {}).get("replicas", 0))


def _available(item: Obj) -> int:
    return int((item.get("status") or {}).get("availableReplicas", 0))


def _revision(item: Obj) -> int:
    return int((item["metadata"].get("annotations") or {}).get(REVISION, 0))
