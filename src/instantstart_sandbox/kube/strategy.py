"""What the server sets by itself when an object is created or changed, per kind; status is kept apart from the rest."""

from __future__ import annotations

import base64
from typing import Any

from instantstart_sandbox.kube.canonical import empty
from instantstart_sandbox.kube.catalog import Kind

Obj = dict[str, Any]
_GENERATION = {
    "pods", "replicationcontrollers", "deployments.apps", "replicasets.apps", "statefulsets.apps", "daemonsets.apps",
    "jobs.batch", "cronjobs.batch", "poddisruptionbudgets.policy", "ingresses.networking.k8s.io",
    "ingressclasses.networking.k8s.io", "networkpolicies.networking.k8s.io",
    "customresourcedefinitions.apiextensions.k8s.io", "priorityclasses.scheduling.k8s.io",
    "endpointslices.discovery.k8s.io", "validatingwebhookconfigurations.admissionregistration.k8s.io",
    "mutatingwebhookconfigurations.admissionregistration.k8s.io",
    "validatingadmissionpolicies.admissionregistration.k8s.io",
    "validatingadmissionpolicybindings.admissionregistration.k8s.io", "flowschemas.flowcontrol.apiserver.k8s.io",
    "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io", "csidrivers.storage.k8s.io",
}  # fmt: skip
_PHASE = {"namespaces": "Active", "persistentvolumes": "Pending", "persistentvolumeclaims": "Pending"}


def keeps_generation(kind: Kind) -> bool:
    """Whether objects of the kind carry metadata.generation."""
    return kind.custom is not None or kind.key in _GENERATION


def has_status(kind: Kind) -> bool:
    """Whether status is written through the status subresource only."""
    return "status" in kind.subresources


def before_create(kind: Kind, obj: Obj) -> None:
    """Reset what a creator may not set, and set what the server owns; in place."""
    meta = obj["metadata"]
    for name in ("uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "selfLink", "generation"):
        meta.pop(name, None)
    meta.pop("deletionGracePeriodSeconds", None)
    if keeps_generation(kind):
        meta["generation"] = 1
    if has_status(kind) and kind.key != "nodes":
        if kind.custom is not None:
            obj.pop("status", None)
        else:
            obj["status"] = {"phase": _PHASE[kind.key]} if kind.key in _PHASE else _fresh_status(kind)
    special = _ON_CREATE.get(kind.key)
    if special:
        special(obj)


def _fresh_status(kind: Kind) -> Obj:
    if kind.key == "services":
        return {"loadBalancer": {}}
    if kind.key == "pods":
        return {"phase": "Pending"}
    if kind.key == "ingresses.networking.k8s.io":
        return {"loadBalancer": {}}
    if kind.struct is None or "status" not in kind.struct.fields:
        return {}
    return _zero_status(kind)


def _zero_status(kind: Kind) -> Obj:
    assert kind.struct is not None
    ref = kind.struct.fields["status"].type
    return empty(ref.struct)


def _secret(obj: Obj) -> None:
    text = obj.pop("stringData", None)
    if text:
        data = obj.setdefault("data", {})
        for key, value in text.items():
            data[key] = base64.b64encode(value.encode()).decode()


def _namespace(obj: Obj) -> None:
    finalizers = obj["spec"].setdefault("finalizers", [])
    if "kubernetes" not in finalizers:
        finalizers.append("kubernetes")
    name = obj["metadata"].get("name")
    if name:
        obj["metadata"].setdefault("labels", {})["kubernetes.io/metadata.name"] = name


def _pod(obj: Obj) -> None:
    obj["status"]["qosClass"] = qos_class(obj["spec"])
    if obj["spec"].get("schedulingGates"):
        text = "Scheduling is blocked due to non-empty scheduling gates"
        mark = {"type": "PodScheduled", "status": "False", "lastProbeTime": None, "lastTransitionTime": None}
        obj["status"]["conditions"] = [{**mark, "reason": "SchedulingGated", "message": text}]


def qos_class(spec: Obj) -> str:
    """Guaranteed, Burstable or BestEffort, from cpu and memory of all containers."""
    containers = [*(spec.get("containers") or []), *(spec.get("initContainers") or [])]
    asked = limited = False
    equal = True
    for container in containers:
        resources = container.get("resources") or {}
        requests = {k: v for k, v in (resources.get("requests") or {}).items() if k in ("cpu", "memory") and v != "0"}
        limits = {k: v for k, v in (resources.get("limits") or {}).items() if k in ("cpu", "memory") and v != "0"}
        asked = asked or bool(requests)
        limited = limited or bool(limits)
        equal = equal and set(limits) == {"cpu", "memory"} and {**limits, **requests} == limits
    if not asked and not limited:
        return "BestEffort"
    return "Guaranteed" if equal else "Burstable"


def finish_job(obj: Obj) -> None:
    """A Job's generated selector and pod labels; needs the uid."""
    spec, meta = obj["spec"], obj["metadata"]
    given = spec["template"]["metadata"].get("labels")
    if spec.get("manualSelector"):
        if given and not meta.get("labels"):
            meta["labels"] = dict(given)
        return
    labels = spec["template"]["metadata"].setdefault("labels", {})
    for key, value in (
        ("batch.kubernetes.io/controller-uid", meta["uid"]),
        ("batch.kubernetes.io/job-name", meta["name"]),
        ("controller-uid", meta["uid"]),
        ("job-name", meta["name"]),
    ):
        labels[key] = value
    if not spec.get("selector"):
        spec["selector"] = {"matchLabels": {"batch.kubernetes.io/controller-uid": meta["uid"]}}
    if not meta.get("labels"):
        meta["labels"] = dict(labels)


def _replication_controller(obj: Obj) -> None:
    labels = (obj["spec"].get("template") or {}).get("metadata", {}).get("labels")
    if labels:
        obj["spec"].setdefault("selector", dict(labels))
        if not obj["metadata"].get("labels"):
            obj["metadata"]["labels"] = dict(labels)


def _definition(obj: Obj) -> None:
    stored = [v["name"] for v in obj["spec"].get("versions") or [] if v.get("storage")]
    obj["status"] = {"conditions": None, "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": stored[:1]}


_ON_CREATE = {
    "secrets": _secret,
    "namespaces": _namespace,
    "pods": _pod,
    "replicationcontrollers": _replication_controller,
    "customresourcedefinitions.apiextensions.k8s.io": _definition,
}
_KEPT_META = ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation", "selfLink")


def before_update(kind: Kind, new: Obj, old: Obj, subresource: str = "") -> Obj:
    """The object to store for a change through the main resource or `status`; generation counted."""
    meta, old_meta = new["metadata"], old["metadata"]
    for name in _KEPT_META:
        if name in old_meta:
            meta[name] = old_meta[name]
        else:
            meta.pop(name, None)
    if old_meta.get("namespace"):
        meta["namespace"] = old_meta["namespace"]
    meta["name"] = old_meta["name"]
    if subresource == "status":
        return _status_only(kind, new, old)
    if subresource == "finalize":
        spec = {**old["spec"], "finalizers": new["spec"].get("finalizers")}
        return {**old, "spec": {k: v for k, v in spec.items() if v}, "metadata": dict(old["metadata"])}
    if subresource == "resize":
        return _resized(new, old)
    if has_status(kind) and subresource == "":
        if "status" in old:
            new["status"] = old["status"]
        else:
            new.pop("status", None)
    if kind.key == "secrets":
        _secret(new)
    if kind.key == "namespaces" and subresource != "finalize":
        new["spec"] = old["spec"]
    if keeps_generation(kind) and subresource != "binding" and _spec_changed(kind, new, old):
        meta["generation"] = old_meta.get("generation", 0) + 1
    return new


def _resized(new: Obj, old: Obj) -> Obj:
    """A pod of which only the containers' resources change."""
    wanted = {c["name"]: c.get("resources", {}) for c in new["spec"].get("containers") or []}
    containers = [{**c, "resources": wanted.get(c["name"], c.get("resources", {}))} for c in old["spec"]["containers"]]
    meta = dict(old["metadata"])
    if containers != old["spec"]["containers"]:
        meta["generation"] = meta.get("generation", 0) + 1
    return {**old, "metadata": meta, "spec": {**old["spec"], "containers": containers}}


def _spec_changed(kind: Kind, new: Obj, old: Obj) -> bool:
    skip = {"metadata", "status", "apiVersion", "kind"}
    if kind.custom is not None and not has_status(kind):
        skip = {"metadata", "apiVersion", "kind"}
    if kind.key in ("deployments.apps",) and new["metadata"].get("annotations") != old["metadata"].get("annotations"):
        return True
    return any(new.get(k) != old.get(k) for k in {*new, *old} - skip)


def _status_only(kind: Kind, new: Obj, old: Obj) -> Obj:
    out = {**old, "status": new.get("status")}
    if out["status"] is None:
        del out["status"]
    meta = dict(old["metadata"])
    if kind.custom is None and not kind.group.startswith(("apps", "batch")):
        for name in ("labels", "annotations", "finalizers", "ownerReferences"):
            if name in new["metadata"]:
                meta[name] = new["metadata"][name]
            elif name != "ownerReferences":
                meta.pop(name, None)
    if "managedFields" in new["metadata"]:
        meta["managedFields"] = new["metadata"]["managedFields"]
    meta["resourceVersion"] = new["metadata"].get("resourceVersion", meta.get("resourceVersion"))
    out["metadata"] = meta
    return out
