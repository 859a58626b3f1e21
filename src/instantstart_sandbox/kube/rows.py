"""Cells of core resources' Tables, in the order of their column definitions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from instantstart_sandbox.kube.ages import age, parse
from instantstart_sandbox.kube.pod_rows import pod
from instantstart_sandbox.kube.workload_rows import CELLS as WORKLOADS

Obj = dict[str, Any]
Cells = Callable[[Obj, float], list[Any]]
CELLS: dict[str, Cells] = {"pods": pod, **WORKLOADS}
_MODES = {"ReadWriteOnce": "RWO", "ReadOnlyMany": "ROX", "ReadWriteMany": "RWX", "ReadWriteOncePod": "RWOP"}
_MODE_ORDER = ("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod")


def cells(key: str) -> Callable[[Cells], Cells]:
    """Register the cells of a resource."""

    def add(fn: Cells) -> Cells:
        CELLS[key] = fn
        return fn

    return add


def _head(obj: Obj) -> tuple[Obj, Obj, Obj]:
    return obj["metadata"], obj.get("spec") or {}, obj.get("status") or {}


def _old(obj: Obj, now: float) -> str:
    return age(obj["metadata"].get("creationTimestamp"), now)


def labels_text(labels: Obj | None) -> str:
    """`a=b,c=d` in key order, `<none>` for nothing."""
    return ",".join(f"{k}={v}" for k, v in sorted((labels or {}).items())) or "<none>"


@cells("configmaps")
def _config_map(obj: Obj, now: float) -> list[Any]:
    return [obj["metadata"]["name"], len(obj.get("data") or {}) + len(obj.get("binaryData") or {}), _old(obj, now)]


@cells("secrets")
def _secret(obj: Obj, now: float) -> list[Any]:
    return [obj["metadata"]["name"], obj.get("type", ""), len(obj.get("data") or {}), _old(obj, now)]


@cells("serviceaccounts")
def _service_account(obj: Obj, now: float) -> list[Any]:
    return [obj["metadata"]["name"], _old(obj, now)]


@cells("namespaces")
def _namespace(obj: Obj, now: float) -> list[Any]:
    return [obj["metadata"]["name"], (obj.get("status") or {}).get("phase", ""), _old(obj, now)]


@cells("services")
def _service(obj: Obj, now: float) -> list[Any]:
    meta, spec, status = _head(obj)
    kind = spec.get("type", "ClusterIP")
    outside = "<none>"
    if kind == "LoadBalancer":
        points = (status.get("loadBalancer") or {}).get("ingress") or []
        outside = ",".join(p.get("ip") or p.get("hostname") or "" for p in points) or "<pending>"
    elif kind == "ExternalName":
        outside = spec.get("externalName", "")
    if spec.get("externalIPs"):
        outside = ",".join(spec["externalIPs"])
    ports = []
    for port in spec.get("ports") or []:
        node = f":{port['nodePort']}" if port.get("nodePort") else ""
        ports.append(f"{port['port']}{node}/{port.get('protocol', 'TCP')}")
    address = spec.get("clusterIP") or "<none>"
    return [
        meta["name"],
        kind,
        address,
        outside,
        ",".join(ports) or "<none>",
        _old(obj, now),
        labels_text(spec.get("selector")),
    ]


def _modes(modes: list[str] | None) -> str:
    return ",".join(_MODES[m] for m in _MODE_ORDER if m in (modes or []))


@cells("persistentvolumeclaims")
def _claim(obj: Obj, now: float) -> list[Any]:
    meta, spec, status = _head(obj)
    phase = "Terminating" if "deletionTimestamp" in meta else status.get("phase", "")
    capacity = modes = ""
    if spec.get("volumeName"):
        modes = _modes(status.get("accessModes"))
        capacity = (status.get("capacity") or {}).get("storage", "")
    return [
        meta["name"], phase, spec.get("volumeName", ""), capacity, modes, spec.get("storageClassName", ""),
        spec.get("volumeAttributesClassName") or "<unset>", _old(obj, now), spec.get("volumeMode", "<unset>"),
    ]  # fmt: skip


@cells("persistentvolumes")
def _volume(obj: Obj, now: float) -> list[Any]:
    meta, spec, status = _head(obj)
    ref = spec.get("claimRef")
    claim = f"{ref['namespace']}/{ref['name']}" if ref else ""
    phase = "Terminating" if "deletionTimestamp" in meta else status.get("phase", "")
    return [
        meta["name"], (spec.get("capacity") or {}).get("storage", ""), _modes(spec.get("accessModes")),
        spec.get("persistentVolumeReclaimPolicy", ""), phase, claim, spec.get("storageClassName", ""),
        spec.get("volumeAttributesClassName") or "<unset>", status.get("reason", ""), _old(obj, now),
        spec.get("volumeMode", "<unset>"),
    ]  # fmt: skip


@cells("nodes")
def _node(obj: Obj, now: float) -> list[Any]:
    meta, spec, status = _head(obj)
    ready = next((c for c in status.get("conditions") or [] if c["type"] == "Ready"), None)
    state = "Unknown" if ready is None else "Ready" if ready["status"] == "True" else "NotReady"
    if spec.get("unschedulable"):
        state += ",SchedulingDisabled"
    roles = set()
    for key, value in (meta.get("labels") or {}).items():
        if key.startswith("node-role.kubernetes.io/") and key.partition("/")[2]:
            roles.add(key.partition("/")[2])
        elif key == "kubernetes.io/role" and value:
            roles.add(value)
    found = {a["type"]: a["address"] for a in status.get("addresses") or []}
    info = status.get("nodeInfo") or {}
    return [
        meta["name"], state, ",".join(sorted(roles)) or "<none>", _old(obj, now), info.get("kubeletVersion", ""),
        found.get("InternalIP", "<none>"), found.get("ExternalIP", "<none>"), info.get("osImage") or "<unknown>",
        info.get("kernelVersion") or "<unknown>", info.get("containerRuntimeVersion") or "<unknown>",
    ]  # fmt: skip


@cells("events")
def _event(obj: Obj, now: float) -> list[Any]:
    meta = obj["metadata"]
    series = obj.get("series") or {}
    first = obj.get("firstTimestamp") or obj.get("eventTime")
    last = series.get("lastObservedTime") or obj.get("lastTimestamp") or first
    target = obj.get("involvedObject") or {}
    source = obj.get("source") or {}
    origin = ", ".join(x for x in (source.get("component"), source.get("host")) if x)
    if not origin:
        origin = ", ".join(x for x in (obj.get("reportingComponent"), obj.get("reportingInstance")) if x)
    kind = str(target.get("kind", "")).lower()
    return [
        age(last, now), obj.get("type", ""), obj.get("reason", ""),
        f"{kind}/{target['name']}" if target.get("name") else kind, target.get("fieldPath", ""), origin,
        (obj.get("message") or "").strip(), age(first, now), series.get("count") or obj.get("count") or 1, meta["name"],
    ]  # fmt: skip


@cells("rolebindings.rbac.authorization.k8s.io")
def _binding(obj: Obj, now: float) -> list[Any]:
    ref = obj["roleRef"]
    by_kind: dict[str, list[str]] = {"User": [], "Group": [], "ServiceAccount": []}
    for subject in obj.get("subjects") or []:
        name = subject["name"]
        if subject["kind"] == "ServiceAccount":
            name = f"{subject.get('namespace', '')}/{name}"
        by_kind.setdefault(subject["kind"], []).append(name)
    lists = [", ".join(by_kind[k]) for k in ("User", "Group", "ServiceAccount")]
    return [obj["metadata"]["name"], f"{ref['kind']}/{ref['name']}", _old(obj, now), *lists]


@cells("roles.rbac.authorization.k8s.io")
def _role(obj: Obj, _now: float) -> list[Any]:
    return [obj["metadata"]["name"], obj["metadata"].get("creationTimestamp")]


@cells("poddisruptionbudgets.policy")
def _budget(obj: Obj, now: float) -> list[Any]:
    meta, spec, status = _head(obj)
    low, high = spec.get("minAvailable"), spec.get("maxUnavailable")
    return [
        meta["name"], "N/A" if low is None else str(low), "N/A" if high is None else str(high),
        status.get("disruptionsAllowed", 0), _old(obj, now),
    ]  # fmt: skip


@cells("leases.coordination.k8s.io")
def _lease(obj: Obj, now: float) -> list[Any]:
    return [obj["metadata"]["name"], (obj.get("spec") or {}).get("holderIdentity", ""), _old(obj, now)]


@cells("ingresses.networking.k8s.io")
def _ingress(obj: Obj, now: float) -> list[Any]:
    meta, spec, status = _head(obj)
    hosts = ",".join(r["host"] for r in spec.get("rules") or [] if r.get("host")) or "*"
    points = (status.get("loadBalancer") or {}).get("ingress") or []
    address = ",".join(p.get("ip") or p.get("hostname") or "" for p in points)
    name = spec.get("ingressClassName") or "<none>"
    return [meta["name"], name, hosts, address, "80, 443" if spec.get("tls") else "80", _old(obj, now)]


@cells("resourcequotas")
def _quota(obj: Obj, now: float) -> list[Any]:
    used, hard = (obj.get("status") or {}).get("used") or {}, (obj.get("status") or {}).get("hard") or {}
    requests: list[str] = []
    limits: list[str] = []
    for name in sorted(hard):
        part = f"{name}: {used.get(name, '0')}/{hard[name]}"
        (limits if name.startswith("limits") else requests).append(part)
    return [obj["metadata"]["name"], ", ".join(requests), ", ".join(limits), _old(obj, now)]


__all__ = ["CELLS", "parse"]
