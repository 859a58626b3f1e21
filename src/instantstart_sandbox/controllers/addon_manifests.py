"""The objects of an add-on, built from its row and its configuration."""

from __future__ import annotations

from typing import Any

import yaml

from instantstart_sandbox.controllers.addon_table import AddonKind, Part, kind_of

Obj = dict[str, Any]
_COREFILE = """.:53 {
    errors
    health {
        lameduck 5s
      }
    ready
    kubernetes cluster.local in-addr.arpa ip6.arpa {
      pods insecure
      fallthrough in-addr.arpa ip6.arpa
    }
    prometheus :9153
    forward . /etc/resolv.conf
    cache 30
    loop
    reload
    loadbalance
}
"""
_ROLE_NOTE = "eks.amazonaws.com/role-arn"


def configuration(text: str | None) -> Obj:
    """configurationValues (JSON or YAML) as an object; {} when there is none or it is none."""
    if not text:
        return {}
    try:
        found = yaml.safe_load(text)
    except yaml.YAMLError:
        return {}
    return found if isinstance(found, dict) else {}


def manifests(addon: str, config: Obj, role: str | None, namespace: str | None = None) -> list[Obj]:
    """All objects in the order in which they are made. `role` annotates the first service account (IRSA)."""
    kind = kind_of(addon)
    space = namespace or kind.namespace
    found: list[Obj] = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": n}}
        for n in (*([space] if space != "kube-system" else []), *kind.namespaces)
    ]
    for i, account in enumerate(kind.accounts):
        meta: Obj = {"name": account, "namespace": space, "labels": _labels(addon)}
        if role and i == 0:
            meta["annotations"] = {_ROLE_NOTE: role}
        found.append({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta})
        found += _rights(addon, account, space)
    found += [_definition(text, kind) for text in kind.customs]
    if kind.driver:
        spec = {"attachRequired": kind.driver.startswith("ebs"), "podInfoOnMount": True}
        found.append(_object("storage.k8s.io/v1", "CSIDriver", kind.driver, None, addon, spec=spec))
    found += _EXTRA.get(addon, lambda _space: [])(space)
    return [*found, *(_workload(addon, part, space, config) for part in kind.parts)]


def _labels(addon: str) -> dict[str, str]:
    return {"app.kubernetes.io/managed-by": "EKS", "app.kubernetes.io/instance": addon}


def _object(api: str, kind: str, name: str, namespace: str | None, addon: str, **body: Any) -> Obj:
    meta: Obj = {"name": name, "labels": _labels(addon)}
    if namespace:
        meta["namespace"] = namespace
    return {"apiVersion": api, "kind": kind, "metadata": meta, **body}


def _rights(addon: str, account: str, namespace: str) -> list[Obj]:
    api = "rbac.authorization.k8s.io/v1"
    rules = [{"apiGroups": [""], "resources": ["pods", "nodes", "namespaces"], "verbs": ["get", "list", "watch"]}]
    subject = {"kind": "ServiceAccount", "name": account, "namespace": namespace}
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": account}
    return [
        _object(api, "ClusterRole", account, None, addon, rules=rules),
        _object(api, "ClusterRoleBinding", account, None, addon, roleRef=reference, subjects=[subject]),
    ]


def _definition(text: str, kind: AddonKind) -> Obj:
    name, version, label = text.split("/")
    plural, _, group = name.partition(".")
    free = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = {"type": "object", "properties": {"spec": free, "status": free}}
    versions = [
        {
            "name": version,
            "served": True,
            "storage": True,
            "schema": {"openAPIV3Schema": schema},
            "subresources": {"status": {}},
        }
    ]
    spec = {
        "group": group,
        "names": {"plural": plural, "singular": label.lower(), "kind": label, "listKind": label + "List"},
        "scope": "Cluster" if label in kind.cluster_scoped else "Namespaced",
        "versions": versions,
    }
    api = "apiextensions.k8s.io/v1"
    return {"apiVersion": api, "kind": "CustomResourceDefinition", "metadata": {"name": name}, "spec": spec}


def _workload(addon: str, part: Part, namespace: str, config: Obj) -> Obj:
    selector = {"k8s-app": part.k8s_app} if part.k8s_app else {"app.kubernetes.io/name": part.app or part.name}
    if not part.k8s_app and part.app:
        selector["app"] = part.name
    labels = {**selector, **({"app.kubernetes.io/name": part.app} if part.app else {})}
    spec: Obj = {"selector": {"matchLabels": selector}, "template": {"metadata": {"labels": labels}}}
    spec["template"]["spec"] = _pod(part, _own(config, part))
    if part.replicas is None:
        spec["updateStrategy"] = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "10%"}}
        return _object("apps/v1", "DaemonSet", part.name, namespace, addon, spec=spec)
    spec["replicas"] = int(_own(config, part).get("replicaCount") or config.get("replicaCount") or part.replicas)
    return _object("apps/v1", "Deployment", part.name, namespace, addon, spec=spec)


def _own(config: Obj, part: Part) -> Obj:
    """The section of the configuration for a part: `node` or `controller` where the add-on has both."""
    section = config.get("node" if part.replicas is None else "controller")
    return section if isinstance(section, dict) else config


def _pod(part: Part, config: Obj) -> Obj:
    tolerations = [dict(t) for t in part.tolerations] + list(config.get("tolerations") or [])
    if config.get("tolerateAllTaints"):
        tolerations = [{"operator": "Exists"}]
    requests = {k: v for k, v in (("cpu", part.cpu), ("memory", part.memory)) if v != "0"}
    containers: list[Obj] = [{"name": n, "image": image} for n, image in part.images.items()]
    containers[0]["resources"] = config.get("resources") or {"requests": requests}
    if part.port:
        containers[0]["ports"] = [{"name": "main", "containerPort": part.port, "protocol": "TCP"}]
    if part.slow:
        probe = {"exec": {"command": ["/healthy"]}, "initialDelaySeconds": int(part.slow), "periodSeconds": 1}
        containers[0]["readinessProbe"] = probe
    spec: Obj = {"serviceAccountName": part.account, "containers": containers}
    if part.init:
        spec["initContainers"] = [
            {"name": n, "image": image, "command": ["/bin/true"]} for n, image in part.init.items()
        ]
    if part.host_network:
        spec["hostNetwork"] = True
    if part.critical:
        spec["priorityClassName"] = f"system-{part.critical}-critical"
    if tolerations:
        spec["tolerations"] = tolerations
    for name in ("nodeSelector", "affinity"):
        if config.get(name):
            spec[name] = config[name]
    return spec


def _coredns(space: str) -> list[Obj]:
    selector = {"k8s-app": "kube-dns"}
    ports = [
        {"name": "dns", "port": 53, "protocol": "UDP", "targetPort": 53},
        {"name": "dns-tcp", "port": 53, "protocol": "TCP", "targetPort": 53},
        {"name": "metrics", "port": 9153, "protocol": "TCP", "targetPort": 9153},
    ]
    service = _object(
        "v1", "Service", "kube-dns", space, "coredns",
        spec={"clusterIP": "10.100.0.10", "selector": selector, "ports": ports},
    )  # fmt: skip
    budget = {"maxUnavailable": 1, "selector": {"matchLabels": selector}}
    return [
        _object("v1", "ConfigMap", "coredns", space, "coredns", data={"Corefile": _COREFILE}),
        service,
        _object("policy/v1", "PodDisruptionBudget", "coredns", space, "coredns", spec=budget),
    ]


def _proxy(space: str) -> list[Obj]:
    data = {"config": "apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\nmode: iptables\n"}
    return [_object("v1", "ConfigMap", "kube-proxy-config", space, "kube-proxy", data=data)]


def _cni(space: str) -> list[Obj]:
    data = {"enable-network-policy-controller": "false", "enable-windows-ipam": "false", "minimum-ip-target": "3"}
    return [_object("v1", "ConfigMap", "amazon-vpc-cni", space, "vpc-cni", data=data)]


_EXTRA = {"coredns": _coredns, "kube-proxy": _proxy, "vpc-cni": _cni}
