"""Subresources with a shape of their own: scale, binding, eviction, token, log, finalize."""

from __future__ import annotations

from typing import Any

from instantstart_sandbox.kube import bodies, canonical, jsonpath, options, ownership, patching, printing, shapes
from instantstart_sandbox.kube.admission import stamp
from instantstart_sandbox.kube.canonical import empty_copy
from instantstart_sandbox.kube.catalog import Kind
from instantstart_sandbox.kube.engine import DeleteOptions, Engine
from instantstart_sandbox.kube.paths import Target
from instantstart_sandbox.kube.selectors import label_match, parse_label_selector
from instantstart_sandbox.kube.signin import SignIn
from instantstart_sandbox.kube.status import (
    ApiError,
    Cause,
    already_exists,
    bad_request,
    conflict,
    invalid,
    not_found,
    success,
)
from instantstart_sandbox.kube.store import ClusterState
from instantstart_sandbox.kube.types import struct
from instantstart_sandbox.kube.wire import Request, Response, answer
from instantstart_sandbox.kube.workload_rows import selector_text

Obj = dict[str, Any]
_SCALE = struct("autoscaling/v1.Scale")


class Subresources:
    """The subresources of one cluster's objects."""

    def __init__(self, engine: Engine, state: ClusterState, signin: SignIn) -> None:
        self.engine, self.state, self.signin = engine, state, signin

    # scale

    def _scale_paths(self, kind: Kind) -> tuple[str, str, str]:
        if kind.custom is not None:
            found = kind.custom.scale
            return found["specReplicasPath"], found["statusReplicasPath"], found.get("labelSelectorPath", "")
        return ".spec.replicas", ".status.replicas", ""

    def _scale_of(self, kind: Kind, obj: Obj) -> Obj:
        wanted, actual, selector = self._scale_paths(kind)
        meta = {k: obj["metadata"][k] for k in ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")}
        replicas, live = jsonpath.first(wanted, obj), jsonpath.first(actual, obj)
        for value, path in ((replicas, wanted), (live, actual)):
            if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
                raise ApiError(500, "InternalError", f"Internal error occurred: {path} accessor error")
        status: Obj = {"replicas": live or 0}
        if kind.custom is None:
            chosen = obj["spec"].get("selector")
            text = selector_text(
                chosen
                if "matchLabels" in (chosen or {}) or "matchExpressions" in (chosen or {})
                else {"matchLabels": chosen}
            )
            status["selector"] = text.replace("<none>", "")
        elif selector and jsonpath.first(selector, obj):
            status["selector"] = jsonpath.first(selector, obj)
        spec = {"replicas": replicas} if replicas else {}
        return {"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": meta, "spec": spec, "status": status}

    def get_scale(self, _request: Request, kind: Kind, target: Target) -> Response:
        """GET of scale."""
        return answer(self._scale_of(kind, self.engine.get(self.state, kind, target.namespace, target.name)))

    def set_scale(self, request: Request, kind: Kind, target: Target) -> Response:
        """PUT or PATCH of scale."""
        media = bodies.media_type(request)
        applying = request.method == "PATCH" and media == "application/apply-patch+yaml"
        dry_run = options.check(request, "PatchOptions" if request.method == "PATCH" else "UpdateOptions", applying)
        old = self.engine.get(self.state, kind, target.namespace, target.name)
        scale = self._scale_of(kind, old)
        body = bodies.raw(request)
        if request.method == "PUT":
            body = bodies.check_kind(kind, body, "Scale", "autoscaling/v1")
            new = {k: v for k, v in body.items() if k != "status"}
        elif media == "application/json-patch+json":
            new = patching.json_patch(scale, body)
        elif applying:
            return self._apply_scale(request, kind, target, old, body, dry_run)
        else:
            new = patching.merge_patch(scale, body)
        return self._store_scale(request, kind, target, old, new, dry_run)

    def _apply_scale(
        self, request: Request, kind: Kind, target: Target, old: Obj, body: Obj, dry_run: bool
    ) -> Response:
        wanted, _, _ = self._scale_paths(kind)
        replicas = (body.get("spec") or {}).get("replicas")
        config = _at_path(wanted, replicas)
        config["metadata"] = {"name": target.name}
        entries = [self._as_scale(e) for e in old["metadata"].get("managedFields") or []]
        who = ownership.Writer(request.arg("fieldManager"), "autoscaling/v1", "scale")
        live = {"metadata": old["metadata"], **_at_path(wanted, jsonpath.first(wanted, old) or None)}
        ownership.apply(shapes.of(kind), live, config, entries, who, self.engine.now(), force=request.flag("force"))
        return self._store_scale(request, kind, target, old, {"spec": {"replicas": replicas}}, dry_run)

    @staticmethod
    def _as_scale(entry: Obj) -> Obj:
        return {**entry, "apiVersion": "autoscaling/v1"}

    def _store_scale(self, request: Request, kind: Kind, target: Target, old: Obj, new: Obj, dry_run: bool) -> Response:
        try:
            decoded = canonical.decode(_SCALE, new)
        except canonical.DecodeError as error:
            raise bad_request(f'Scale in version "v1" cannot be handled as a Scale: {error}') from error
        given = decoded["metadata"].get("resourceVersion")
        if given and given != old["metadata"]["resourceVersion"]:
            text = "the object has been modified; please apply your changes to the latest version and try again"
            raise conflict(kind.resource, kind.group, target.name, text)
        if decoded["metadata"].get("name", target.name) != target.name:
            raise bad_request(
                f"the name of the object ({decoded['metadata']['name']}) does not match "
                f"the name on the URL ({target.name})"
            )
        replicas = decoded["spec"].get("replicas", 0)
        if replicas < 0:
            text = f"Invalid value: {replicas}: must be greater than or equal to 0"
            raise invalid("Scale", "autoscaling", target.name, [Cause("spec.replicas", "FieldValueInvalid", text)])
        wanted, _, _ = self._scale_paths(kind)
        changed = empty_copy(old)
        _put(changed, wanted, replicas)
        who = ownership.Writer(request.manager, kind.api_version, "scale")
        former = old["metadata"].get("managedFields")
        owned = ownership.on_update(shapes.of(kind), old, changed, former, who, self.engine.now())
        if owned:
            changed["metadata"]["managedFields"] = owned
        done = self.engine.update(self.state, kind, changed, old, subresource="scale", dry_run=dry_run)
        response = answer(self._scale_of(kind, done))
        response.applied = done is not old and not dry_run
        return response

    # pods

    def bind(self, request: Request, kind: Kind, target: Target) -> Response:
        """POST of a Binding: puts a pod on a node."""
        options.check(request, "CreateOptions")
        body = bodies.check_kind(kind, bodies.raw(request), "Binding", "v1")
        name = target.name or (body.get("metadata") or {}).get("name", "")
        pods = self.engine.kind_of(self.state, "pods")
        old = self.engine.get(self.state, pods, target.namespace, name)
        node = (body.get("target") or {}).get("name", "")
        if old["spec"].get("nodeName"):
            text = f'pod {name} is already assigned to node "{old["spec"]["nodeName"]}"'
            raise conflict("pods/binding", "", name, text)
        new = empty_copy(old)
        new["spec"]["nodeName"] = node
        conditions = [c for c in new["status"].get("conditions") or [] if c["type"] != "PodScheduled"]
        mark = {
            "type": "PodScheduled",
            "status": "True",
            "lastProbeTime": None,
            "lastTransitionTime": self.engine.now(),
        }
        new["status"]["conditions"] = [*conditions, mark]
        self.engine.update(self.state, pods, new, old, subresource="binding", trusted=True)
        return answer({**success(), "code": 201}, 201, applied=True)

    def evict(self, request: Request, kind: Kind, target: Target) -> Response:
        """POST of an Eviction: a delete that disruption budgets may refuse with 429."""
        options.check(request, "CreateOptions")
        body = bodies.check_kind(kind, bodies.raw(request), "Eviction", "policy/v1")
        if (body.get("metadata") or {}).get("name", target.name) != target.name:
            raise bad_request("name in URL does not match name in Eviction object")
        pod = self.engine.get(self.state, kind, target.namespace, target.name)
        asked = body.get("deleteOptions") or {}
        given = asked.get("preconditions") or {}
        dry = bool(asked.get("dryRun") or request.query.get("dryRun"))
        chosen = DeleteOptions(
            asked.get("gracePeriodSeconds"),
            asked.get("propagationPolicy") or "",
            given.get("uid", ""),
            given.get("resourceVersion", ""),
            dry,
        )
        if "deletionTimestamp" not in pod["metadata"]:
            self._budget(pod, dry)
        self.engine.delete(self.state, kind, pod, chosen)
        return answer({**success(), "code": 201}, 201, applied=not dry)

    def _budget(self, pod: Obj, dry: bool) -> None:
        status = pod.get("status") or {}
        if status.get("phase") in ("Succeeded", "Failed", "Pending") and status.get("phase") != "Running":
            return
        budgets = [b for b in self._budgets(pod["metadata"]["namespace"]) if self._covers(b, pod)]
        if len(budgets) > 1:
            text = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
            raise ApiError(500, "", text)
        ready = any(c["type"] == "Ready" and c["status"] == "True" for c in status.get("conditions") or [])
        for budget in budgets:
            state = budget.get("status") or {}
            if not ready and (
                budget["spec"].get("unhealthyPodEvictionPolicy") == "AlwaysAllow"
                or state.get("currentHealthy", 0) >= state.get("desiredHealthy", 0) > 0
            ):
                return
            self._take(budget, pod, dry)

    def _budgets(self, namespace: str) -> list[Obj]:
        return [e.obj for e in self.state.table("poddisruptionbudgets.policy").scan(namespace)]

    @staticmethod
    def _covers(budget: Obj, pod: Obj) -> bool:
        selector = budget["spec"].get("selector")
        return selector is not None and label_match(parse_label_selector(selector))(pod)

    def _take(self, budget: Obj, pod: Obj, dry: bool) -> None:
        state = budget.get("status") or {}
        if state.get("disruptionsAllowed", 0) <= 0:
            need, have = state.get("desiredHealthy", 0), state.get("currentHealthy", 0)
            text = (
                f"The disruption budget {budget['metadata']['name']} needs {need} healthy pods and has {have} currently"
            )
            details = {"causes": [{"reason": "DisruptionBudget", "message": text}]}
            message = "Cannot evict pod as it would violate the pod's disruption budget."
            raise ApiError(429, "TooManyRequests", message, details)
        if dry:
            return
        new = empty_copy(budget)
        new["status"]["disruptionsAllowed"] -= 1
        new["status"].setdefault("disruptedPods", {})[pod["metadata"]["name"]] = self.engine.now()
        kind = self.engine.kind_of(self.state, "poddisruptionbudgets.policy")
        self.engine.update(self.state, kind, new, budget, subresource="status", trusted=True)

    # service accounts

    def token(self, request: Request, kind: Kind, target: Target) -> Response:
        """POST of a TokenRequest."""
        options.check(request, "CreateOptions")
        body = bodies.check_kind(kind, bodies.raw(request), "TokenRequest", "authentication.k8s.io/v1")
        account = self.engine.get(self.state, kind, target.namespace, target.name)
        spec = dict(body.get("spec") or {})
        seconds = spec.get("expirationSeconds") or 3600
        if seconds < 600:
            text = f"Invalid value: {seconds}: may not specify a duration less than 10 minutes"
            cause = Cause("spec.expirationSeconds", "FieldValueInvalid", text)
            raise invalid("TokenRequest", "authentication.k8s.io", "", [cause])
        spec["expirationSeconds"] = seconds
        spec.setdefault("audiences", ["https://kubernetes.default.svc"])
        spec.setdefault("boundObjectRef", None)
        claims = {"uid": account["metadata"]["uid"], "audiences": spec["audiences"]}
        token, due = self.signin.issue(self.state, target.namespace, target.name, claims, seconds)
        meta = {"name": target.name, "namespace": target.namespace, "creationTimestamp": self.engine.now()}
        out = {"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1", "metadata": meta, "spec": spec}
        return answer({**out, "status": {"token": token, "expirationTimestamp": stamp(due)}}, 201)

    # namespaces and pods' parts

    def whole(self, request: Request, kind: Kind, target: Target) -> Response:
        """GET of a part that shows the whole object."""
        obj = self.engine.get(self.state, kind, target.namespace, target.name)
        return printing.one(self.engine, request, kind, obj)


def _at_path(path: str, value: Any) -> Obj:
    out: Obj = {}
    if value is not None:
        _put(out, path, value)
    return out


def _put(obj: Obj, path: str, value: Any) -> None:
    *parents, last = path.strip(".").split(".")
    for name in parents:
        obj = obj.setdefault(name, {})
    obj[last] = value


__all__ = ["Subresources", "already_exists", "not_found"]
