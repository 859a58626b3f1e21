"""Cells of Deployments, ReplicaSets, StatefulSets, DaemonSets, Jobs, CronJobs and autoscalers."""

from __future__ import annotations

from typing import Any

from instantstart_sandbox.kube.ages import age, duration, parse

Obj = dict[str, Any]


def _images(template: Obj) -> tuple[str, str]:
    containers = (template.get("spec") or {}).get("containers") or []
    return ",".join(c["name"] for c in containers), ",".join(c.get("image", "") for c in containers)


def selector_text(selector: Obj | None) -> str:
    """A label selector as `kubectl get -o wide` shows it."""
    if not selector:
        return "<none>"
    parts = [f"{k}={v}" for k, v in sorted((selector.get("matchLabels") or {}).items())]
    words = {"In": "in", "NotIn": "notin"}
    for item in selector.get("matchExpressions") or []:
        if item["operator"] in words:
            parts.append(f"{item['key']} {words[item['operator']]} ({','.join(sorted(item['values']))})")
        else:
            parts.append(item["key"] if item["operator"] == "Exists" else f"!{item['key']}")
    return ",".join(parts) or "<none>"


def _parts(obj: Obj, now: float) -> tuple[str, Obj, Obj, str]:
    meta = obj["metadata"]
    return meta["name"], obj["spec"], obj.get("status") or {}, age(meta.get("creationTimestamp"), now)


def _deployment(obj: Obj, now: float) -> list[Any]:
    name, spec, status, old = _parts(obj, now)
    ready = f"{status.get('readyReplicas', 0)}/{spec.get('replicas', 0)}"
    names, images = _images(spec["template"])
    updated, available = status.get("updatedReplicas", 0), status.get("availableReplicas", 0)
    return [name, ready, updated, available, old, names, images, selector_text(spec.get("selector"))]


def _replica_set(obj: Obj, now: float) -> list[Any]:
    name, spec, status, old = _parts(obj, now)
    counts = [spec.get("replicas", 0), status.get("replicas", 0), status.get("readyReplicas", 0)]
    return [name, *counts, old, *_images(spec.get("template") or {}), selector_text(spec.get("selector"))]


def _stateful_set(obj: Obj, now: float) -> list[Any]:
    name, spec, status, old = _parts(obj, now)
    return [name, f"{status.get('readyReplicas', 0)}/{spec.get('replicas', 0)}", old, *_images(spec["template"])]


def _daemon_set(obj: Obj, now: float) -> list[Any]:
    name, spec, status, old = _parts(obj, now)
    fields = (
        "desiredNumberScheduled",
        "currentNumberScheduled",
        "numberReady",
        "updatedNumberScheduled",
        "numberAvailable",
    )
    counts = [status.get(f, 0) for f in fields]
    chosen = (spec["template"].get("spec") or {}).get("nodeSelector") or {}
    nodes = ",".join(f"{k}={v}" for k, v in sorted(chosen.items())) or "<none>"
    return [name, *counts, nodes, old, *_images(spec["template"]), selector_text(spec.get("selector"))]


def _job_word(obj: Obj, spec: Obj, status: Obj) -> str:
    true = {c["type"] for c in status.get("conditions") or [] if c["status"] == "True"}
    if "Complete" in true:
        return "Complete"
    if "Failed" in true:
        return "Failed"
    if "deletionTimestamp" in obj["metadata"]:
        return "Terminating"
    if "Suspended" in true:
        return "Suspended"
    if "FailureTarget" in true:
        return "FailureTarget"
    return "SuccessCriteriaMet" if "SuccessCriteriaMet" in true else "Running"


def _job(obj: Obj, now: float) -> list[Any]:
    name, spec, status, old = _parts(obj, now)
    done = status.get("succeeded", 0)
    if spec.get("completions") is not None:
        completions = f"{done}/{spec['completions']}"
    else:
        width = spec.get("parallelism") or 0
        completions = f"{done}/1 of {width}" if width > 1 else f"{done}/1"
    took = ""
    if status.get("startTime"):
        end = parse(status["completionTime"]) if status.get("completionTime") else now
        took = duration(end - parse(status["startTime"]))
    tail = [*_images(spec["template"]), selector_text(spec.get("selector"))]
    return [name, _job_word(obj, spec, status), completions, took, old, *tail]


def _cron_job(obj: Obj, now: float) -> list[Any]:
    name, spec, status, old = _parts(obj, now)
    last = age(status["lastScheduleTime"], now) if status.get("lastScheduleTime") else "<none>"
    job = (spec.get("jobTemplate") or {}).get("spec") or {}
    return [
        name, spec["schedule"], spec.get("timeZone") or "<none>", "True" if spec.get("suspend") else "False",
        len(status.get("active") or []), last, old, *_images(job.get("template") or {}),
        selector_text(job.get("selector")),
    ]  # fmt: skip


def _metric(item: Obj, current: list[Obj]) -> str:
    source = item.get("resource") or item.get("containerResource") or item.get("pods") or item.get("external") or {}
    name = source.get("name") or (source.get("metric") or {}).get("name", "")
    target = source.get("target") or {}
    live = "<unknown>"
    for other in current:
        seen = other.get(item["type"][0].lower() + item["type"][1:]) or {}
        if seen.get("name", (seen.get("metric") or {}).get("name")) == name:
            value = seen.get("current") or {}
            live = (
                f"{value['averageUtilization']}%"
                if "averageUtilization" in value
                else str(value.get("averageValue", live))
            )
    if "averageUtilization" in target:
        return f"{name}: {live}/{target['averageUtilization']}%"
    return f"{live}/{target.get('averageValue') or target.get('value', '<auto>')}"


def _autoscaler(obj: Obj, now: float) -> list[Any]:
    name, spec, status, old = _parts(obj, now)
    target = spec["scaleTargetRef"]
    metrics = [_metric(m, status.get("currentMetrics") or []) for m in spec.get("metrics") or []]
    shown = ", ".join(metrics[:2]) + (f" + {len(metrics) - 2} more..." if len(metrics) > 2 else "")
    low = str(spec["minReplicas"]) if spec.get("minReplicas") is not None else "<unset>"
    where = f"{target['kind']}/{target['name']}"
    return [name, where, shown or "<none>", low, spec["maxReplicas"], status.get("currentReplicas", 0), old]


CELLS = {
    "deployments.apps": _deployment,
    "replicasets.apps": _replica_set,
    "statefulsets.apps": _stateful_set,
    "daemonsets.apps": _daemon_set,
    "jobs.batch": _job,
    "cronjobs.batch": _cron_job,
    "horizontalpodautoscalers.autoscaling": _autoscaler,
}
