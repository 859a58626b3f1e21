"""Questions about identity and rights: access reviews, rules review, token review, who am I."""

from __future__ import annotations

from typing import Any

from instantstart_sandbox.kube import bodies
from instantstart_sandbox.kube.canonical import DecodeError
from instantstart_sandbox.kube.catalog import Kind
from instantstart_sandbox.kube.engine import Engine
from instantstart_sandbox.kube.rbac import Attributes, Authorizer
from instantstart_sandbox.kube.signin import SignIn
from instantstart_sandbox.kube.status import Cause, bad_request, invalid
from instantstart_sandbox.kube.store import ClusterState
from instantstart_sandbox.kube.wire import Request, Response, User, answer

Obj = dict[str, Any]
KINDS = {
    "SelfSubjectAccessReview", "SelfSubjectRulesReview", "SubjectAccessReview", "LocalSubjectAccessReview",
    "TokenReview", "SelfSubjectReview",
}  # fmt: skip


class Reviews:
    """Answers of one cluster."""

    def __init__(self, engine: Engine, state: ClusterState, signin: SignIn) -> None:
        self.engine, self.state, self.signin = engine, state, signin
        self.authorizer = Authorizer(engine, state)

    def create(self, request: Request, kind: Kind, namespace: str) -> Response:
        """POST of a review."""
        body = bodies.check_kind(kind, bodies.raw(request))
        try:
            obj = self.engine.normal(kind, body)
        except DecodeError as error:
            raise bad_request(f'{kind.kind} in version "v1" cannot be handled as a {kind.kind}: {error}') from error
        if namespace:
            obj["metadata"]["namespace"] = namespace
        handler = {
            "SelfSubjectReview": self._self,
            "TokenReview": self._token,
            "SelfSubjectRulesReview": self._rules,
        }.get(kind.kind, self._access)
        obj["status"] = handler(request, kind, obj)
        if kind.kind == "SelfSubjectRulesReview":
            obj["spec"] = {}
        if kind.kind == "SelfSubjectReview":
            obj["metadata"] = {"creationTimestamp": self.engine.now()}
        return answer(
            {
                "kind": kind.kind,
                "apiVersion": kind.api_version,
                **{k: v for k, v in obj.items() if k not in ("kind", "apiVersion")},
            },
            201,
        )

    def _self(self, request: Request, _kind: Kind, _obj: Obj) -> Obj:
        return {"userInfo": _info(request.user)}

    def _token(self, _request: Request, _kind: Kind, obj: Obj) -> Obj:
        found = self.signin.by_token(self.state, obj["spec"].get("token", ""))
        if found is None:
            return {"user": {}, "error": "invalid bearer token"}
        return {"authenticated": True, "user": _info(found), "audiences": ["https://kubernetes.default.svc"]}

    def _access(self, request: Request, kind: Kind, obj: Obj) -> Obj:
        spec = obj["spec"]
        resource, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
        if (resource is None) == (path is None):
            text = "Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified"
            cause = Cause("spec.resourceAttributes", "FieldValueInvalid", text)
            error = invalid("", kind.group, "", [cause])
            error.message = error.message.replace(f'{kind.group} ""', f'.{kind.group} ""', 1)
            error.message = error.message.replace("..", ".", 1)
            raise error
        user = request.user
        if kind.kind != "SelfSubjectAccessReview":
            user = User(spec.get("user", ""), tuple(spec.get("groups") or ()))
        if path is not None:
            asked = Attributes(path.get("verb", ""), path=path.get("path", ""))
        else:
            fields = {k: resource.get(k, "") for k in ("verb", "group", "resource", "subresource", "namespace", "name")}
            asked = Attributes(**fields)
        allowed, reason = self.authorizer.may(user, asked)
        return {"allowed": allowed, **({"reason": reason} if reason else {})}

    def _rules(self, request: Request, _kind: Kind, obj: Obj) -> Obj:
        resources, paths = [], []
        for rule, _ in self.authorizer.rules(request.user, obj["spec"].get("namespace", "")):
            if rule.get("nonResourceURLs"):
                paths.append({"verbs": rule["verbs"], "nonResourceURLs": rule["nonResourceURLs"]})
            else:
                names = ("verbs", "apiGroups", "resources", "resourceNames")
                resources.append({k: rule[k] for k in names if rule.get(k)})
        return {"resourceRules": resources, "nonResourceRules": paths, "incomplete": False}


def _info(user: User) -> Obj:
    out: Obj = {"username": user.name}
    if user.uid:
        out["uid"] = user.uid
    if user.groups:
        out["groups"] = list(user.groups)
    extra = {k: v for k, v in user.extra.items() if not k.startswith("eks/")}
    if extra:
        out["extra"] = extra
    return out
