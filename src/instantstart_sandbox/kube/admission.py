"""What happens to an object on its way into the store besides defaults: accounts, addresses, quotas, protection."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from instantstart_sandbox.kube import addresses, conversion, quotas
from instantstart_sandbox.kube.catalog import Kind
from instantstart_sandbox.kube.status import forbidden
from instantstart_sandbox.kube.store import ClusterState

if TYPE_CHECKING:
    from instantstart_sandbox.kube.engine import Engine

Obj = dict[str, Any]
GRACEFUL = ("pods",)
SHOWN_WHEN_GONE = ("pods", "services")
_NOT_READY = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
CLEANUP = "customresourcecleanup.apiextensions.k8s.io"
_TOLERATIONS = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
_PROTECTED_NAMESPACES = ("default", "kube-system", "kube-public")
convert = conversion.convert


def stamp(epoch: float) -> str:
    """Epoch seconds as Kubernetes writes a time."""
    return datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def grace(kind: Kind, obj: Obj, asked: int | None) -> int:
    """Seconds a delete leaves the object; 0 for all but running pods."""
    if kind.key not in GRACEFUL:
        return 0
    spec, status = obj["spec"], obj.get("status") or {}
    if not spec.get("nodeName") or status.get("phase") in ("Failed", "Succeeded"):
        return 0
    meta = obj["metadata"]
    if "deletionTimestamp" in meta:
        left = int(meta.get("deletionGracePeriodSeconds", 0))
        return min(left, asked) if asked is not None else left
    return asked if asked is not None else int(spec.get("terminationGracePeriodSeconds") or 0)


def on_create(engine: Engine, state: ClusterState, kind: Kind, obj: Obj, trusted: bool = False) -> None:
    """Admission of a new object, in place."""
    if kind.key == "pods":
        _pod(engine, state, obj)
    elif kind.key == "services":
        addresses.assign(engine, state, obj, None)
    elif kind.key in ("persistentvolumeclaims", "persistentvolumes"):
        meta = obj["metadata"]
        mark = "kubernetes.io/pvc-protection" if kind.key.endswith("claims") else "kubernetes.io/pv-protection"
        if mark not in meta.get("finalizers", []):
            meta["finalizers"] = [*meta.get("finalizers", []), mark]
        if kind.key == "persistentvolumeclaims":
            _default_class(state, obj)
    elif kind.key == "nodes" and not trusted:
        taints = obj["spec"].get("taints") or []
        if not any(t["key"] == _NOT_READY["key"] and t["effect"] == _NOT_READY["effect"] for t in taints):
            obj["spec"]["taints"] = [*taints, dict(_NOT_READY)]
    quotas.admit(state, kind, obj)


def on_update(engine: Engine, state: ClusterState, kind: Kind, new: Obj, old: Obj, subresource: str) -> None:
    """Admission of a change, in place."""
    if kind.key == "services" and not subresource:
        addresses.assign(engine, state, new, old)
    if kind.key == "pods" and subresource == "status":
        new.setdefault("status", {})
        if isinstance(new["status"], dict):
            new["status"].setdefault("qosClass", (old.get("status") or {}).get("qosClass", "BestEffort"))


def refuse_delete(kind: Kind, name: str) -> None:
    """ApiError 403 for the namespaces that may not go."""
    if kind.key == "namespaces" and name in _PROTECTED_NAMESPACES:
        raise forbidden("namespaces", "", name, "this namespace may not be deleted")


def _default_class(state: ClusterState, obj: Obj) -> None:
    if "storageClassName" in obj["spec"]:
        return
    for entry in state.table("storageclasses.storage.k8s.io").scan():
        notes = entry.obj["metadata"].get("annotations") or {}
        if notes.get("storageclass.kubernetes.io/is-default-class") == "true":
            obj["spec"]["storageClassName"] = entry.obj["metadata"]["name"]


def _pod(engine: Engine, state: ClusterState, obj: Obj) -> None:
    spec, meta = obj["spec"], obj["metadata"]
    _priority(state, obj)
    tolerations = spec.get("tolerations") or []
    for key in _TOLERATIONS:
        if not any(
            t.get("key", key) == key and t.get("effect", "NoExecute") == "NoExecute" and _tolerates(t)
            for t in tolerations
        ):
            tolerations = [
                *tolerations,
                {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300},
            ]
    spec["tolerations"] = tolerations
    if state.doc.get("service_accounts", True) and "kubernetes.io/config.mirror" not in (meta.get("annotations") or {}):
        _service_account(engine, state, obj)


def _tolerates(toleration: Obj) -> bool:
    return toleration.get("operator") == "Exists" or "key" in toleration


def _priority(state: ClusterState, obj: Obj) -> None:
    spec = obj["spec"]
    name = spec.get("priorityClassName")
    found: Obj | None = None
    if name in ("system-node-critical", "system-cluster-critical"):
        found = {"value": 2000001000 if "node" in name else 2000000000}
    elif name:
        entry = state.table("priorityclasses.scheduling.k8s.io").entries.get(("", name))
        if entry is None:
            why = f"no PriorityClass with name {name} was found"
            raise forbidden("pods", "", obj["metadata"]["name"], why)
        found = entry.obj
    else:
        for entry in state.table("priorityclasses.scheduling.k8s.io").scan():
            if entry.obj.get("globalDefault"):
                found = entry.obj
                spec["priorityClassName"] = found["metadata"]["name"]
    spec["priority"] = (found or {}).get("value", 0)
    spec.setdefault("preemptionPolicy", (found or {}).get("preemptionPolicy", "PreemptLowerPriority"))


def _service_account(engine: Engine, state: ClusterState, obj: Obj) -> None:
    spec, meta = obj["spec"], obj["metadata"]
    name = spec.get("serviceAccountName") or spec.get("serviceAccount") or "default"
    spec["serviceAccountName"] = spec["serviceAccount"] = name
    entry = state.table("serviceaccounts").entries.get((meta.get("namespace", ""), name))
    if entry is None:
        why = f'error looking up service account {meta.get("namespace", "")}/{name}: serviceaccount "{name}" not found'
        raise forbidden("pods", "", meta["name"], why)
    mount = spec.get("automountServiceAccountToken")
    if mount is None:
        mount = entry.obj.get("automountServiceAccountToken", True)
    if mount is False:
        return
    path = "/var/run/secrets/kubernetes.io/serviceaccount"
    volume = f"kube-api-access-{engine.world.ids.text(5)}"
    used = False
    for container in [*(spec.get("containers") or []), *(spec.get("initContainers") or [])]:
        mounts = container.setdefault("volumeMounts", [])
        if any(m["mountPath"] == path for m in mounts):
            continue
        mounts.append({"name": volume, "readOnly": True, "mountPath": path})
        used = True
    if used:
        spec["volumes"] = [*spec.get("volumes", []), _token_volume(volume)]


def _token_volume(name: str) -> Obj:
    namespace = {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}
    sources = [
        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {"downwardAPI": {"items": [namespace]}},
    ]
    return {"name": name, "projected": {"sources": sources, "defaultMode": 420}}
