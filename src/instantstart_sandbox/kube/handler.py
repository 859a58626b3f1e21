"""From a request to its answer, synchronous: sign-in, rights, routing, the log of outside calls. No sockets here."""

from __future__ import annotations

from typing import Any

from instantstart_sandbox.kube import discovery, openapi, paths, podlogs, reviews
from instantstart_sandbox.kube.catalog import Kind
from instantstart_sandbox.kube.objects import KubeApi
from instantstart_sandbox.kube.rbac import Attributes, Authorizer, refusal
from instantstart_sandbox.kube.signin import SignIn, impersonated
from instantstart_sandbox.kube.status import (
    ApiError,
    forbidden,
    method_not_allowed,
    no_such_resource,
    not_found,
    unauthorized,
)
from instantstart_sandbox.kube.store import ClusterState
from instantstart_sandbox.kube.subresources import Subresources
from instantstart_sandbox.kube.verbs import Verbs
from instantstart_sandbox.kube.wire import Request, Response, failure, text

_OPEN = ("/healthz", "/livez", "/readyz", "/version")
_METHOD_VERBS = {"GET": "get", "HEAD": "get", "POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}


class Handler:
    """Serves the requests of every cluster."""

    def __init__(self, api: KubeApi, signin: SignIn) -> None:
        self.api, self.engine, self.signin = api, api.engine, signin
        self.world = api.world

    def serve(self, cluster: str, request: Request) -> Response:
        """The answer; failures are answers too. Effects and the request log row share one transaction."""
        target = paths.parse(request.path)
        verb = paths.verb(request, target) if target else request.method.lower()
        try:
            with self.world.store.transaction():
                response = self._answer(cluster, request, target, verb)
                self._log(cluster, request, target, verb, response)
        except ApiError as error:
            response = failure(error)
            with self.world.store.transaction():
                self._log(cluster, request, target, verb, response)
        return response

    def _log(self, cluster: str, request: Request, target: paths.Target | None, verb: str, response: Response) -> None:
        if target is None:
            return
        resource = f"{target.resource}.{target.group}" if target.group else target.resource
        if target.subresource:
            resource += "/" + target.subresource
        self.world.requests.record(
            "kubernetes",
            f"{verb} {resource}",
            request.audit_id,
            mutating=verb not in ("get", "list", "watch")
            and target.group not in ("authorization.k8s.io", "authentication.k8s.io"),
            applied=response.applied and response.status < 400,
            params={"cluster": cluster, "namespace": target.namespace, "name": target.name, "user": request.user.name},
            status=response.status,
        )

    def _answer(self, cluster: str, request: Request, target: paths.Target | None, verb: str) -> Response:
        state = self.engine.store.clusters.get(cluster)
        if state is None:
            return text("404 page not found\n", 404)
        self._sign_in(state, request)
        self._authorize(state, request, target, verb)
        if target is None:
            found = discovery.serve(self.engine, state, request) or openapi.serve(self.engine, state, request)
            return found or text("404 page not found\n", 404)
        return self._resource(state, request, target, verb)

    def _sign_in(self, state: ClusterState, request: Request) -> None:
        user = self.signin.user(state, request)
        if user.name == "system:anonymous":
            if not request.path.startswith(_OPEN) and not state.doc.get("anonymous"):
                raise unauthorized()
            request.user = user
            return
        other = impersonated(request, user)
        if other is not None:
            asked = Attributes("impersonate", resource="users", name=other.name)
            allowed, _ = Authorizer(self.engine, state).may(user, asked)
            if not allowed:
                raise forbidden("users", "", other.name, refusal(user, asked))
        request.user = other or user

    def _authorize(self, state: ClusterState, request: Request, target: paths.Target | None, verb: str) -> None:
        if target is None:
            asked = Attributes(verb, path=request.path)
        else:
            place, name = target.namespace, target.name or (target.namespace if target.resource == "namespaces" else "")
            asked = Attributes(verb, target.group, target.resource, target.subresource, place, name)
        allowed, _ = Authorizer(self.engine, state).may(request.user, asked)
        if not allowed:
            if target is None:
                raise forbidden("", "", "", refusal(request.user, asked))
            raise forbidden(target.resource, target.group, target.name, refusal(request.user, asked))

    def _resource(self, state: ClusterState, request: Request, target: paths.Target, verb: str) -> Response:
        kind = self.engine.resolve(state, target.group, target.version, target.resource)
        if kind is None:
            known = any(k.group == target.group and k.version == target.version for k in self.engine.all_kinds(state))
            if known and not target.group.count(".example"):
                raise no_such_resource()
            return text("404 page not found\n", 404)
        if target.resource == "namespaces":
            target = paths.Target(
                target.group, target.version, target.resource, "", target.name or target.namespace, target.subresource
            )
        if (
            kind.namespaced
            and not target.namespace
            and verb in ("create", "deletecollection")
            and kind.kind not in reviews.KINDS
        ):
            raise method_not_allowed()
        if target.subresource:
            return self._sub(state, request, kind, target)
        return self._main(state, request, kind, target, verb)

    def _main(self, state: ClusterState, request: Request, kind: Kind, target: paths.Target, verb: str) -> Response:
        if kind.kind in reviews.KINDS:
            if request.method != "POST" or target.name:
                raise method_not_allowed()
            return reviews.Reviews(self.engine, state, self.signin).create(request, kind, target.namespace)
        if kind.key == "bindings" and verb == "create":
            return Subresources(self.engine, state, self.signin).bind(request, kind, target)
        needed = "list" if verb == "watch" else verb
        if (
            needed not in kind.verbs
            or (verb in ("update", "patch", "delete") and not target.name)
            or (verb == "create" and target.name)
        ):
            raise method_not_allowed()
        verbs = Verbs(self.engine, state)
        table: dict[str, Any] = {
            "get": verbs.get,
            "list": verbs.list,
            "watch": verbs.list,
            "create": verbs.create,
            "update": verbs.update,
            "patch": verbs.patch,
            "delete": verbs.delete,
            "deletecollection": verbs.delete_collection,
        }
        response: Response = table[verb](request, kind, target)
        return response

    def _sub(self, state: ClusterState, request: Request, kind: Kind, target: paths.Target) -> Response:
        sub = kind.subresources.get(target.subresource)
        if sub is None:
            raise no_such_resource()
        verb = _METHOD_VERBS.get(request.method, "")
        if verb not in sub.verbs:
            raise method_not_allowed()
        parts, verbs = Subresources(self.engine, state, self.signin), Verbs(self.engine, state)
        name = sub.name
        if name == "log":
            return podlogs.serve(self.engine, state, self.api.logs, request, target)
        if name == "scale":
            return parts.get_scale(request, kind, target) if verb == "get" else parts.set_scale(request, kind, target)
        if name in ("binding", "eviction", "token"):
            chosen = {"binding": parts.bind, "eviction": parts.evict, "token": parts.token}[name]
            return chosen(request, kind, target)
        if name in ("status", "finalize", "ephemeralcontainers", "resize", "approval"):
            if verb == "get":
                return parts.whole(request, kind, target)
            return verbs.update(request, kind, target) if verb == "update" else verbs.patch(request, kind, target)
        return self._stream(state, kind, target)

    def _stream(self, state: ClusterState, kind: Kind, target: paths.Target) -> Response:
        """exec, attach, port-forward and proxy are not played; the refusal is explicit."""
        found = self.engine.find(state, kind, target.namespace, target.name)
        if found is None:
            raise not_found(kind.resource, kind.group, target.name)
        if kind.key == "pods" and not found["spec"].get("nodeName"):
            raise ApiError(400, "BadRequest", f"pod {target.name} does not have a host assigned")
        message = f"the sandbox does not play {kind.resource}/{target.subresource}"
        raise ApiError(501, "NotImplemented", message, {})
