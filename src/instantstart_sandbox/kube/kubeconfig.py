"""Kubeconfig files: with `aws eks get-token`, as a person has it, or with a static token, for tests."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import yaml

from instantstart_sandbox.kube.objects import KubeApi

Obj = dict[str, Any]


def _document(name: str, endpoint: str, ca_data: str, user: Obj, namespace: str) -> Obj:
    context: Obj = {"cluster": name, "user": name}
    if namespace:
        context["namespace"] = namespace
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": {"server": endpoint, "certificate-authority-data": ca_data}}],
        "contexts": [{"name": name, "context": context}],
        "current-context": name,
        "preferences": {},
        "users": [{"name": name, "user": user}],
    }


def _write(path: Path, document: Obj) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o600)
    path.write_text(yaml.safe_dump(document, sort_keys=False))
    return path


def with_exec(path: Path, name: str, endpoint: str, ca_data: str, region: str, namespace: str = "") -> Path:
    """A kubeconfig whose user gets its token from the AWS CLI, as `aws eks update-kubeconfig` writes it."""
    command = {
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "command": "aws",
        "args": ["--region", region, "eks", "get-token", "--cluster-name", name, "--output", "json"],
    }
    return _write(path, _document(name, endpoint, ca_data, {"exec": command}, namespace))


def with_token(path: Path, name: str, endpoint: str, ca_data: str, token: str, namespace: str = "") -> Path:
    """A kubeconfig with a fixed bearer token."""
    return _write(path, _document(name, endpoint, ca_data, {"token": token}, namespace))


def add_token(api: KubeApi, cluster: str, token: str, name: str, groups: tuple[str, ...] = ("system:masters",)) -> None:
    """Let a fixed token sign in to a cluster; only its digest is kept."""
    state = api.engine.cluster(cluster)
    digest = hashlib.sha256(token.encode()).hexdigest()
    known = {**(state.doc.get("tokens") or {}), digest: {"name": name, "groups": [*groups, "system:authenticated"]}}
    kept = api.world.store.get("kube.cluster", cluster) or state.doc
    state.doc = {**kept, "tokens": known}
    api.world.store.put("kube.cluster", cluster, state.doc)
