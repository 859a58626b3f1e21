"""The two built-in kinds that are served in two shapes: autoscalers (v1, v2) and events (core, events.k8s.io)."""

from __future__ import annotations

from typing import Any

from instantstart_sandbox.kube.catalog import Kind

Obj = dict[str, Any]
_EVENT_NEW = {
    "involvedObject": "regarding",
    "message": "note",
    "source": "deprecatedSource",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
    "reportingComponent": "reportingController",
}


def convert(source: Kind, obj: Obj, target: Kind) -> Obj:
    """An object of `source`'s version as `target`'s; the same object when nothing differs."""
    if obj.get("apiVersion") == target.api_version:
        return obj
    out = {**obj, "apiVersion": target.api_version}
    if target.group == "events.k8s.io" or source.group == "events.k8s.io":
        return _event(out, target.group == "events.k8s.io")
    if target.key == "horizontalpodautoscalers.autoscaling":
        return _autoscaler_old(out) if target.version == "v1" else _autoscaler_new(out)
    return out


def _event(obj: Obj, to_new: bool) -> Obj:
    names = _EVENT_NEW if to_new else {v: k for k, v in _EVENT_NEW.items()}
    out = {names.get(k, k): v for k, v in obj.items()}
    if not to_new:
        out.setdefault("source", {})
        out.setdefault("firstTimestamp", None)
        out.setdefault("lastTimestamp", None)
        out.setdefault("reportingComponent", "")
        out.setdefault("reportingInstance", "")
        out.setdefault("involvedObject", {})
    return out


def _autoscaler_old(obj: Obj) -> Obj:
    spec = dict(obj["spec"])
    metrics = spec.pop("metrics", [])
    for metric in metrics:
        target = (metric.get("resource") or {}).get("target") or {}
        if metric.get("resource", {}).get("name") == "cpu" and target.get("type") == "Utilization":
            spec["targetCPUUtilizationPercentage"] = target["averageUtilization"]
    spec.pop("behavior", None)
    status = dict(obj.get("status") or {})
    status.setdefault("currentReplicas", 0)
    status.setdefault("desiredReplicas", 0)
    for name in ("currentMetrics", "conditions"):
        status.pop(name, None)
    return {**obj, "spec": spec, "status": status}


def _autoscaler_new(obj: Obj) -> Obj:
    spec = dict(obj["spec"])
    percent = spec.pop("targetCPUUtilizationPercentage", None)
    target = {"type": "Utilization", "averageUtilization": percent or 80}
    spec["metrics"] = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
    status = dict(obj.get("status") or {})
    status.setdefault("currentMetrics", None)
    status.pop("currentCPUUtilizationPercentage", None)
    return {**obj, "spec": spec, "status": status}
