"""Faults on demand: what should go wrong, where, how often, and how long it takes.

A fault is asked for by the place that can make it happen: `faults.take(kind, service, operation, text)`. One with a
`count` is used up; one with a `probability` rolls the world's own dice, so the same seed gives the same world.
"""

from __future__ import annotations

from typing import Any

from instantstart_sandbox.world.ids import Ids
from instantstart_sandbox.world.store import Store

KINDS: dict[str, str] = {
    "insufficient_capacity": "HyperPod finds no capacity (match: instance type, zone or group)",
    "quota": "ResourceLimitExceeded on a call (service, operation)",
    "throttling": "the service's throttling error on a call (service, operation)",
    "server_error": "a 500 or 503 before the call has any effect",
    "slow": "the answer takes delay_seconds of world time longer",
    "lost_answer": "the call takes effect, the connection drops before the answer",
    "late_request": "the connection drops at once, the call takes effect delay_seconds of world time later",
    "stack_failure": "a resource of a CloudFormation stack fails (match: logical id or type)",
    "mount_failure": "the S3 mount of a pod fails with the kubelet event (match: claim or namespace/pod)",
    "lifecycle_script_failure": "a node's lifecycle script exits non-zero (match: group or cluster)",
    "node_not_ready": "a node stops reporting (match: node name or instance id)",
    "image_pull": "an image cannot be pulled (match: image)",
    "chart_fetch": "a chart cannot be downloaded (match: chart name)",
    "api_server_down": "the Kubernetes endpoint of a cluster refuses connections (match: cluster)",
    "watch_gone": "watches end with 410 Gone (match: cluster)",
    "expired_credentials": "ExpiredToken on a call (service, operation)",
}


class Faults:
    """Active faults, kept in the store under kind `fault`."""

    def __init__(self, store: Store, ids: Ids) -> None:
        self._store, self._ids = store, ids

    def add(self, spec: dict[str, Any]) -> dict[str, Any]:
        """Add a fault {kind, service, operation, match, count, probability, delay_seconds}; ValueError: bad fields."""
        known = {"kind", "service", "operation", "match", "count", "probability", "delay_seconds"}
        bad = sorted(set(spec) - known)
        if bad or spec.get("kind") not in KINDS:
            raise ValueError(f"unknown fields {bad}" if bad else f"kind must be one of {sorted(KINDS)}")
        fault = {"id": self._ids.hex("flt-", 8), "used": 0, **spec}
        self._store.put("fault", fault["id"], fault)
        return fault

    def list(self) -> list[dict[str, Any]]:
        """All active faults."""
        return self._store.list("fault")

    def remove(self, fault_id: str | None = None) -> int:
        """Remove one fault, or all; returns how many."""
        keys = [k for k, _ in self._store.items("fault") if fault_id in (None, k)]
        for key in keys:
            self._store.delete("fault", key)
        return len(keys)

    def take(self, kind: str, service: str = "", operation: str = "", text: str = "") -> dict[str, Any] | None:
        """The first active fault that applies, counted as used; None when nothing goes wrong.

        `text` is what `match` is looked up in (a plain substring), e.g. "ml.p5.48xlarge us-west-2a workers".
        """
        for key, fault in self._store.items("fault"):
            if fault["kind"] != kind or not self._applies(fault, service, operation, text):
                continue
            left = fault.get("count")
            used = {**fault, "used": fault["used"] + 1}
            if left is not None and used["used"] >= int(left):
                self._store.delete("fault", key)
            else:
                self._store.put("fault", key, used)
            return used
        return None

    def peek(self, kind: str, service: str = "", operation: str = "", text: str = "") -> bool:
        """Whether a fault would apply, without using it up or rolling dice."""
        faults = (f for f in self._store.list("fault") if f["kind"] == kind)
        return any(self._selects(f, service, operation, text) for f in faults)

    def _applies(self, fault: dict[str, Any], service: str, operation: str, text: str) -> bool:
        if not self._selects(fault, service, operation, text):
            return False
        probability = fault.get("probability")
        return probability is None or self._ids.random() < float(probability)

    @staticmethod
    def _selects(fault: dict[str, Any], service: str, operation: str, text: str) -> bool:
        return (
            fault.get("service") in (None, "", service)
            and fault.get("operation") in (None, "", operation)
            and (not fault.get("match") or str(fault["match"]) in text)
        )
