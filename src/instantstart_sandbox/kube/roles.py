"""The cluster roles and bindings that every cluster starts with, as far as clients lean on them."""

from __future__ import annotations

from typing import Any

Obj = dict[str, Any]
_READ = ["get", "list", "watch"]
_WRITE = ["create", "delete", "deletecollection", "patch", "update"]


def _rule(groups: list[str], resources: list[str], verbs: list[str]) -> Obj:
    return {"apiGroups": groups, "resources": resources, "verbs": verbs}


_CORE = [
    "bindings", "configmaps", "endpoints", "events", "limitranges", "namespaces", "namespaces/status",
    "persistentvolumeclaims", "persistentvolumeclaims/status", "pods", "pods/log", "pods/status",
    "replicationcontrollers", "replicationcontrollers/scale", "replicationcontrollers/status", "resourcequotas",
    "resourcequotas/status", "serviceaccounts", "services", "services/status",
]  # fmt: skip
_APPS = [
    "controllerrevisions", "daemonsets", "daemonsets/status", "deployments", "deployments/scale", "deployments/status",
    "replicasets", "replicasets/scale", "replicasets/status", "statefulsets", "statefulsets/scale",
    "statefulsets/status",
]  # fmt: skip
_BATCH = ["cronjobs", "cronjobs/status", "jobs", "jobs/status"]
_NET = ["ingresses", "ingresses/status", "networkpolicies"]
_VIEW = [
    _rule([""], _CORE, _READ),
    _rule(["apps"], _APPS, _READ),
    _rule(["batch"], _BATCH, _READ),
    _rule(["autoscaling"], ["horizontalpodautoscalers", "horizontalpodautoscalers/status"], _READ),
    _rule(["policy"], ["poddisruptionbudgets", "poddisruptionbudgets/status"], _READ),
    _rule(["networking.k8s.io"], _NET, _READ),
    _rule(["discovery.k8s.io"], ["endpointslices"], _READ),
]
_EDIT_CORE = [
    "configmaps", "events", "persistentvolumeclaims", "pods", "pods/attach", "pods/exec", "pods/portforward",
    "pods/proxy", "pods/eviction", "replicationcontrollers", "replicationcontrollers/scale", "secrets",
    "serviceaccounts", "services", "services/proxy",
]  # fmt: skip
_EDIT = [
    *_VIEW,
    _rule([""], ["pods/attach", "pods/exec", "pods/portforward", "pods/proxy", "secrets", "services/proxy"], _READ),
    _rule([""], _EDIT_CORE, _WRITE),
    _rule([""], ["serviceaccounts"], ["impersonate"]),
    _rule([""], ["serviceaccounts/token"], ["create"]),
    _rule(["apps"], [r for r in _APPS if not r.endswith("/status")], _WRITE),
    _rule(["batch"], ["cronjobs", "jobs"], _WRITE),
    _rule(["autoscaling"], ["horizontalpodautoscalers"], _WRITE),
    _rule(["policy"], ["poddisruptionbudgets"], _WRITE),
    _rule(["networking.k8s.io"], ["ingresses", "networkpolicies"], _WRITE),
    _rule(["coordination.k8s.io"], ["leases"], [*_READ, *_WRITE]),
]
_ADMIN = [
    *_EDIT,
    _rule(["authorization.k8s.io"], ["localsubjectaccessreviews"], ["create"]),
    _rule(["rbac.authorization.k8s.io"], ["roles", "rolebindings"], [*_READ, *_WRITE]),
]
_SELF = [
    _rule(["authorization.k8s.io"], ["selfsubjectaccessreviews", "selfsubjectrulesreviews"], ["create"]),
    _rule(["authentication.k8s.io"], ["selfsubjectreviews"], ["create"]),
]
_PATHS = ["/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez", "/openapi", "/openapi/*", "/readyz", "/version"]
_OPEN_PATHS = ["/healthz", "/livez", "/readyz", "/version", "/version/"]
_NODE = [
    _rule(["", "apps", "batch", "storage.k8s.io", "coordination.k8s.io", "events.k8s.io"], ["*"], ["*"]),
]


def _role(name: str, rules: list[Obj], **labels: str) -> Obj:
    meta: Obj = {
        "name": name,
        "labels": {"kubernetes.io/bootstrapping": "rbac-defaults", **labels},
        "annotations": {"rbac.authorization.kubernetes.io/autoupdate": "true"},
    }
    return {"metadata": meta, "rules": rules}


def _binding(name: str, groups: list[str]) -> Obj:
    meta = {
        "name": name,
        "labels": {"kubernetes.io/bootstrapping": "rbac-defaults"},
        "annotations": {"rbac.authorization.kubernetes.io/autoupdate": "true"},
    }
    subjects = [{"kind": "Group", "apiGroup": "rbac.authorization.k8s.io", "name": g} for g in groups]
    ref = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name}
    return {"metadata": meta, "roleRef": ref, "subjects": subjects}


ROLES: list[Obj] = [
    _role("cluster-admin", [_rule(["*"], ["*"], ["*"]), {"nonResourceURLs": ["*"], "verbs": ["*"]}]),
    _role("admin", _ADMIN),
    _role("edit", _EDIT),
    _role("view", _VIEW),
    _role("system:basic-user", _SELF),
    _role("system:discovery", [{"nonResourceURLs": [*_PATHS, "/version/"], "verbs": ["get"]}]),
    _role("system:public-info-viewer", [{"nonResourceURLs": _OPEN_PATHS, "verbs": ["get"]}]),
    _role("system:node", _NODE),
]
BINDINGS: list[Obj] = [
    _binding("cluster-admin", ["system:masters"]),
    _binding("system:basic-user", ["system:authenticated"]),
    _binding("system:discovery", ["system:authenticated"]),
    _binding("system:public-info-viewer", ["system:authenticated", "system:unauthenticated"]),
    _binding("system:node", ["system:nodes"]),
]
