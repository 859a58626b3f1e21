"""What becomes of an add-on: from CREATING to ACTIVE, DEGRADED or CREATE_FAILED, by what the controllers report."""

from __future__ import annotations

from typing import Any

from instantstart_sandbox.aws.eks import addon_catalog as catalog
from instantstart_sandbox.aws.eks.parts import ADDON, ASSOCIATION, Doc, Parts

HEALTH = "kube.addon_health"
"""Documents {healthy, code, message} by `<cluster>/<addon>`, written by the controllers."""
_STEP = "eks.addon"
_FATAL = ("ConfigurationConflict", "AdmissionRequestDenied", "AccessDenied", "K8sResourceNotFound")
_NOT_PLACED = "The add-on is unhealthy because it doesn't have the desired number of replicas."


class AddonHealth:
    """Settles add-ons; a change of health is seen half a minute later, as on AWS."""

    def __init__(self, parts: Parts) -> None:
        self.parts, self.world = parts, parts.world
        self.world.timers.on(_STEP, self._step)
        self.world.work.on("eks.addon.begin", self._begin)
        self.world.work.on("eks.addon.end", self._end)
        self.world.work.on("eks.addon", self._look)
        self.world.store.subscribe(HEALTH, self._changed)

    def _changed(self, key: str, old: Doc | None, new: Doc | None) -> None:
        addon = self.world.store.get(ADDON, key)
        if new is not None and old != new and addon is not None and addon["status"] in ("ACTIVE", "DEGRADED"):
            self.world.timers.after(30, _STEP, key, to="look")

    def _begin(self, key: str) -> None:
        self.world.timers.after(self.parts.between(60, 120), _STEP, key, to="settle")

    def _end(self, key: str) -> None:
        self.world.timers.after(self.parts.between(20, 45), _STEP, key, to="gone")

    def _step(self, key: str, payload: dict[str, Any]) -> None:
        if payload["to"] == "gone":
            self._gone(key)
        else:
            self._look(key)

    def _gone(self, key: str) -> None:
        doc = self.world.store.delete(ADDON, key)
        self.world.store.delete(HEALTH, key)
        self.parts.forget_tokens(key)
        cluster = key.partition("/")[0]
        for name, held in self.world.store.items(ASSOCIATION, f"{cluster}/"):
            if doc is not None and held.get("ownerArn") == doc["addonArn"]:
                self.world.store.delete(ASSOCIATION, name)

    def _report(self, doc: Doc) -> Doc:
        key = f"{doc['clusterName']}/{doc['addonName']}"
        held = self.world.store.get(HEALTH, key)
        if held is not None:
            return held
        if catalog.KINDS[doc["addonName"]].is_daemon:
            return {"healthy": True}
        return {"healthy": False, "code": "InsufficientNumberOfReplicas", "message": _NOT_PLACED}

    def _look(self, key: str) -> None:
        doc = self.world.store.get(ADDON, key)
        if doc is None or doc["status"] not in ("CREATING", "ACTIVE", "DEGRADED"):
            return
        report = self._report(doc)
        status, issues = "ACTIVE", []
        if not report["healthy"]:
            fatal = doc["status"] == "CREATING" and report["code"] in _FATAL
            status = "CREATE_FAILED" if fatal else "DEGRADED"
            message = report.get("message") or _NOT_PLACED
            issues = [{"code": report["code"], "message": message, "resourceIds": [doc["addonName"]]}]
        if (status, issues) != (doc["status"], doc["health"]["issues"]):
            now = self.world.clock.time()
            changed = {**doc, "status": status, "health": {"issues": issues}, "modifiedAt": now}
            self.world.store.put(ADDON, key, changed)
