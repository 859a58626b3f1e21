"""Who may do what: RBAC roles and bindings, and the access policies of EKS access entries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from instantstart_sandbox.kube.engine import Engine
from instantstart_sandbox.kube.store import ClusterState
from instantstart_sandbox.kube.wire import User

Obj = dict[str, Any]
_GROUP = "rbac.authorization.k8s.io"


@dataclass(frozen=True)
class Attributes:
    """One question: may somebody do this verb on this resource, or get this path."""

    verb: str
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""


def _covers(wanted: list[str], value: str) -> bool:
    return "*" in wanted or value in wanted


def allows(rule: Obj, asked: Attributes) -> bool:
    """Whether one policy rule answers yes."""
    verbs = rule.get("verbs") or []
    if not _covers(verbs, asked.verb):
        return False
    if asked.path:
        paths = rule.get("nonResourceURLs") or []
        return any(p in ("*", asked.path) or (p.endswith("*") and asked.path.startswith(p[:-1])) for p in paths)
    if not _covers(rule.get("apiGroups") or [], asked.group):
        return False
    full = f"{asked.resource}/{asked.subresource}" if asked.subresource else asked.resource
    resources = rule.get("resources") or []
    if not (_covers(resources, full) or (asked.subresource and f"*/{asked.subresource}" in resources)):
        return False
    names = rule.get("resourceNames") or []
    return not names or asked.name in names


def _is(subject: Obj, user: User, namespace: str) -> bool:
    kind, name = subject["kind"], subject["name"]
    if kind == "User":
        return bool(name == user.name)
    if kind == "Group":
        return name in user.groups
    place = subject.get("namespace") or namespace
    return bool(kind == "ServiceAccount" and user.name == f"system:serviceaccount:{place}:{name}")


def _who(subject: Obj, namespace: str) -> str:
    name = subject["name"]
    if subject["kind"] == "ServiceAccount":
        name = f"{name}/{subject.get('namespace') or namespace}"
    return f'{subject["kind"]} "{name}"'


class Authorizer:
    """Answers questions for one cluster."""

    def __init__(self, engine: Engine, state: ClusterState) -> None:
        self.engine, self.state = engine, state

    def rules_of(self, ref: Obj, namespace: str) -> list[Obj]:
        """The rules of the role that a binding refers to."""
        key = "clusterroles." + _GROUP if ref["kind"] == "ClusterRole" else "roles." + _GROUP
        place = "" if ref["kind"] == "ClusterRole" else namespace
        entry = self.state.table(key).entries.get((place, ref["name"]))
        return list(entry.obj.get("rules") or []) if entry else []

    def rules(self, user: User, namespace: str) -> Iterator[tuple[Obj, str]]:
        """Every rule that holds for a user in a namespace ('' = the cluster), with the reason to show."""
        yield from self._policies(user, namespace)
        for entry in self.state.table("clusterrolebindings." + _GROUP).scan():
            obj = entry.obj
            for subject in obj.get("subjects") or []:
                if _is(subject, user, ""):
                    head = f'ClusterRoleBinding "{obj["metadata"]["name"]}" of ClusterRole "{obj["roleRef"]["name"]}"'
                    for rule in self.rules_of(obj["roleRef"], ""):
                        yield rule, f"RBAC: allowed by {head} to {_who(subject, '')}"
                    break
        if not namespace:
            return
        for entry in self.state.table("rolebindings." + _GROUP).scan(namespace):
            obj = entry.obj
            for subject in obj.get("subjects") or []:
                if _is(subject, user, namespace):
                    name = f"{obj['metadata']['name']}/{namespace}"
                    ref = obj["roleRef"]
                    head = f'RoleBinding "{name}" of {ref["kind"]} "{ref["name"]}"'
                    for rule in self.rules_of(ref, namespace):
                        yield rule, f"RBAC: allowed by {head} to {_who(subject, namespace)}"
                    break

    def _policies(self, user: User, namespace: str) -> Iterator[tuple[Obj, str]]:
        """Rules of the access policies that came with the user's EKS access entry."""
        for text in user.extra.get("eks/policies", []):
            role, _, scope = text.partition("|")
            if scope and namespace not in scope.split(","):
                continue
            for rule in self.rules_of({"kind": "ClusterRole", "name": role}, ""):
                yield rule, "EKS Access Policy"

    def may(self, user: User, asked: Attributes) -> tuple[bool, str]:
        """Yes or no, and why."""
        if "system:masters" in user.groups:
            return True, ""
        for rule, reason in self.rules(user, asked.namespace):
            if allows(rule, asked):
                return True, reason
        return False, ""


def beyond(authorizer: Authorizer, user: User, namespace: str, rules: list[Obj]) -> list[Obj]:
    """Those rules that give more than the user has: nobody may grant what he does not hold."""
    if "system:masters" in user.groups:
        return []
    held = [r for r, _ in authorizer.rules(user, namespace)]
    return [rule for rule in rules if not all(any(allows(h, a) for h in held) for a in _asked(rule, namespace))]


def _asked(rule: Obj, namespace: str) -> Iterator[Attributes]:
    for verb in rule.get("verbs") or []:
        for path in rule.get("nonResourceURLs") or []:
            yield Attributes(verb, path=path)
        for group in rule.get("apiGroups") or []:
            for resource in rule.get("resources") or []:
                plain, _, sub = resource.partition("/")
                for name in rule.get("resourceNames") or [""]:
                    yield Attributes(verb, group, plain, sub, namespace, name)


def shown_rule(rule: Obj) -> str:
    """A rule as the refusal to grant it shows it."""
    names = (("apiGroups", "APIGroups"), ("resources", "Resources"), ("resourceNames", "ResourceNames"),
             ("nonResourceURLs", "NonResourceURLs"), ("verbs", "Verbs"))  # fmt: skip
    parts = [
        f"{label}:[{', '.join(chr(34) + v + chr(34) for v in rule[key])}]" for key, label in names if rule.get(key)
    ]
    return "{" + ", ".join(parts) + "}"


def refusal(user: User, asked: Attributes) -> str:
    """The words of a 403."""
    if asked.path:
        return f'User "{user.name}" cannot {asked.verb} path "{asked.path}"'
    resource = f"{asked.resource}/{asked.subresource}" if asked.subresource else asked.resource
    head = f'User "{user.name}" cannot {asked.verb} resource "{resource}" in API group "{asked.group}"'
    return f'{head} in the namespace "{asked.namespace}"' if asked.namespace else f"{head} at the cluster scope"
