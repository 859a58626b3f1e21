"""What a new cluster contains: namespaces, service accounts, cluster roles, the kubernetes Service."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from instantstart_sandbox.kube.roles import BINDINGS, ROLES

if TYPE_CHECKING:
    from instantstart_sandbox.kube.objects import KubeApi

Obj = dict[str, Any]
NAMESPACES = ("default", "kube-system", "kube-public", "kube-node-lease")
_CA_NOTE = (
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the "
    "internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes "
    "clusters."
)

_PRIORITIES = {
    "system-node-critical": (
        2000001000,
        "Used for system critical pods that must not be moved from their current node.",
    ),
    "system-cluster-critical": (
        2000000000,
        "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
    ),
}


def begin(api: KubeApi, name: str, version: str, settings: Obj) -> None:
    """Make a cluster. Settings: service_cidr, service_accounts (admission on), namespace_objects (by this module)."""
    doc = {"name": name, "version": version, "service_cidr": "10.100.0.0/16", **settings}
    api.engine.store.add_cluster(name, doc)
    for namespace in NAMESPACES:
        api.create(name, "namespaces", {"metadata": {"name": namespace}})
        furnish(api, name, namespace)
    for label, (value, text) in _PRIORITIES.items():
        body = {"metadata": {"name": label}, "value": value, "description": text}
        api.create(name, "priorityclasses.scheduling.k8s.io", body)
    labels = {"component": "apiserver", "provider": "kubernetes"}
    spec: Obj = {"ports": [{"name": "https", "port": 443, "protocol": "TCP", "targetPort": 443}]}
    if doc["service_cidr"] == "10.100.0.0/16":
        spec["clusterIP"] = "10.100.0.1"
    meta = {"name": "kubernetes", "namespace": "default", "labels": labels}
    api.create(name, "services", {"metadata": meta, "spec": spec})
    for role in ROLES:
        api.create(name, "clusterroles.rbac.authorization.k8s.io", role)
    for binding in BINDINGS:
        api.create(name, "clusterrolebindings.rbac.authorization.k8s.io", binding)
    api.engine.store.forget_history(name)


def furnish(api: KubeApi, cluster: str, namespace: str) -> None:
    """What every namespace holds: the default ServiceAccount and the CA bundle."""
    if api.get(cluster, "serviceaccounts", namespace, "default") is None:
        api.create(cluster, "serviceaccounts", {"metadata": {"name": "default", "namespace": namespace}})
    if api.get(cluster, "configmaps", namespace, "kube-root-ca.crt") is None:
        notes = {"kubernetes.io/description": _CA_NOTE}
        meta = {"name": "kube-root-ca.crt", "namespace": namespace, "annotations": notes}
        bundle = str(api.world.store.meta("kube-ca", ""))
        api.create(cluster, "configmaps", {"metadata": meta, "data": {"ca.crt": bundle}})
