"""What the verbs do over the wire: get, list, watch, create, update, patch, apply, delete, deletecollection."""

from __future__ import annotations

from typing import Any

from instantstart_sandbox.kube import (
    admission,
    bodies,
    canonical,
    defaults,
    fieldsets,
    listing,
    options,
    ownership,
    patching,
    printing,
    rbac,
    shapes,
    strategy,
    watching,
)
from instantstart_sandbox.kube.catalog import Kind
from instantstart_sandbox.kube.engine import DeleteOptions, Engine
from instantstart_sandbox.kube.paths import Target
from instantstart_sandbox.kube.status import (
    STALE,
    ApiError,
    bad_request,
    conflict,
    forbidden,
    not_found,
    unsupported_media,
)
from instantstart_sandbox.kube.store import ClusterState, Entry
from instantstart_sandbox.kube.wire import Request, Response, answer

Obj = dict[str, Any]
_PATCHES = ("application/json-patch+json", "application/merge-patch+json", "application/strategic-merge-patch+json")
_APPLY = ("application/apply-patch+yaml",)


class Verbs:
    """The verbs of one cluster's resources."""

    def __init__(self, engine: Engine, state: ClusterState) -> None:
        self.engine, self.state = engine, state

    # reading

    def get(self, request: Request, kind: Kind, target: Target) -> Response:
        """One object."""
        text = request.arg("resourceVersion")
        if text:
            listing.list_version(self.state, text)
        obj = self.engine.get(self.state, kind, target.namespace, target.name)
        return printing.one(self.engine, request, kind, obj)

    def list(self, request: Request, kind: Kind, target: Target) -> Response:
        """A list or a watch."""
        listing.number(request, "timeoutSeconds")
        chosen = listing.selection(request, kind, target.namespace, target.name)
        if request.flag("watch"):
            return watching.begin(self.engine, self.state, request, kind, chosen)
        return printing.many(self.engine, request, kind, listing.page(self.engine, self.state, request, kind, chosen))

    # writing

    def create(self, request: Request, kind: Kind, target: Target) -> Response:
        """POST on a collection."""
        dry_run = options.check(request, "CreateOptions")
        warnings: list[str] = []
        obj = bodies.decode(self.engine, request, kind, warnings)
        self._place(kind, obj, target.namespace)
        if obj["metadata"].get("resourceVersion"):
            raise ApiError(500, "", "resourceVersion should not be set on objects to be created")
        self._own(kind, request, {}, obj, "")
        self._escalation(request, kind, obj)
        made = self.engine.create(self.state, kind, obj, dry_run=dry_run)
        response = printing.one(self.engine, request, kind, made, 201)
        response.applied = not dry_run
        return _warn(response, warnings)

    def _escalation(self, request: Request, kind: Kind, obj: Obj) -> None:
        """ApiError 403 for roles and bindings that grant more than their author holds."""
        if kind.group != "rbac.authorization.k8s.io":
            return
        authorizer = rbac.Authorizer(self.engine, self.state)
        namespace = obj["metadata"].get("namespace", "")
        rules = obj.get("rules") if "roleRef" not in obj else authorizer.rules_of(obj["roleRef"], namespace)
        more = rbac.beyond(authorizer, request.user, namespace, rules or [])
        if more:
            groups = ",".join(f'"{g}"' for g in request.user.groups)
            head = f'user "{request.user.name}" (groups=[{groups}]) is attempting to grant '
            head += "RBAC permissions not currently held:"
            why = "\n".join([head, *(rbac.shown_rule(r) for r in more)])
            raise forbidden(kind.resource, kind.group, obj["metadata"].get("name", ""), why)

    @staticmethod
    def _place(kind: Kind, obj: Obj, namespace: str) -> None:
        given = obj["metadata"].get("namespace")
        if not kind.namespaced:
            if given:
                obj["metadata"].pop("namespace")
            return
        if given and given != namespace:
            raise bad_request("the namespace of the provided object does not match the namespace sent on the request")
        obj["metadata"]["namespace"] = namespace

    def update(self, request: Request, kind: Kind, target: Target) -> Response:
        """PUT on an object or one of its parts."""
        dry_run = options.check(request, "UpdateOptions")
        warnings: list[str] = []
        fill = kind.key != "pods"
        new = bodies.decode(self.engine, request, kind, warnings, fill)
        self._check_name(new, target)
        self._place(kind, new, target.namespace)
        version = new["metadata"].get("resourceVersion")
        if version and not version.isdigit():
            raise ApiError(500, "", f'strconv.ParseUint: parsing "{version}": invalid syntax')
        old = self.engine.find(self.state, kind, target.namespace, target.name)
        if old is None:
            raise self._absent(kind, target, new)
        self._check_uid(kind, target, new, old)
        return _warn(self._store(request, kind, target, new, old, dry_run), warnings)

    @staticmethod
    def _check_name(new: Obj, target: Target) -> None:
        name = new["metadata"].get("name")
        if not name:
            text = f"the name of the object ({target.name} based on URL) was undeterminable: name must be provided"
            raise bad_request(text)
        if name != target.name:
            raise bad_request(f"the name of the object ({name}) does not match the name on the URL ({target.name})")

    @staticmethod
    def _absent(kind: Kind, target: Target, new: Obj) -> ApiError:
        uid = new["metadata"].get("uid")
        if uid:
            return _stale_uid(kind, target, uid, "")
        return not_found(kind.resource, kind.group, target.name)

    @staticmethod
    def _check_uid(kind: Kind, target: Target, new: Obj, old: Obj) -> None:
        uid = new["metadata"].get("uid")
        if uid and uid != old["metadata"]["uid"]:
            raise _stale_uid(kind, target, uid, old["metadata"]["uid"])

    def _store(
        self, request: Request, kind: Kind, target: Target, new: Obj, old: Obj, dry_run: bool, owned: bool = False
    ) -> Response:
        subresource = target.subresource
        if not owned:
            old_here = self._here(kind, old)
            new = self._visible(kind, new, old_here, subresource)
            self._own(kind, request, old_here, new, subresource)
        done = self.engine.update(self.state, kind, new, old, subresource=subresource, dry_run=dry_run)
        response = printing.one(self.engine, request, kind, done)
        response.applied = done is not old and not dry_run
        return response

    def _visible(self, kind: Kind, new: Obj, old: Obj, subresource: str) -> Obj:
        """The new object as far as this way of writing may change it, for managedFields."""
        if subresource == "status":
            out = {**old, "status": new.get("status"), "metadata": new["metadata"]}
            if out["status"] is None:
                del out["status"]
            return out
        if strategy.has_status(kind) and not subresource:
            out = dict(new)
            if "status" in old:
                out["status"] = old["status"]
            else:
                out.pop("status", None)
            return out
        return new

    def _here(self, kind: Kind, obj: Obj) -> Obj:
        """A stored object at the version of the request."""
        return {**listing.converted(kind, obj), "kind": kind.kind, "apiVersion": kind.api_version}

    def _own(self, kind: Kind, request: Request, old: Obj, new: Obj, subresource: str) -> None:
        """Bring managedFields of `new` up to date, in place."""
        given = new["metadata"].get("managedFields")
        former = old.get("metadata", {}).get("managedFields")
        if given is not None and old and (not given or given == [{}]):
            new["metadata"].pop("managedFields", None)
            return
        entries = given if given is not None and (not given or ownership.read(given)) else former
        if given is not None and old and given != former and not ownership.read(given):
            entries = former
        live = old or self._nothing(kind)
        reset = ("status",) if subresource == "" and strategy.has_status(kind) else ()
        who = ownership.Writer(request.manager, kind.api_version, subresource, reset)
        found = ownership.on_update(shapes.of(kind), live, new, entries, who, self.engine.now())
        if found:
            new["metadata"]["managedFields"] = found
        else:
            new["metadata"].pop("managedFields", None)

    @staticmethod
    def _nothing(kind: Kind) -> Obj:
        return canonical.empty(kind.struct.name) if kind.struct is not None else {"metadata": {}}

    # patches

    def patch(self, request: Request, kind: Kind, target: Target) -> Response:
        """PATCH in its four forms."""
        media = bodies.media_type(request)
        accepted = [p for p in _PATCHES if kind.custom is None or "strategic" not in p] + list(_APPLY)
        if media not in accepted:
            if media in _PATCHES:
                raise unsupported_media(accepted)
            raise ApiError(415, "UnsupportedMediaType", "415: Unsupported Media Type", {})
        dry_run = options.check(request, "PatchOptions", media in _APPLY)
        if media in _APPLY:
            return self._apply(request, kind, target, dry_run)
        old = self.engine.get(self.state, kind, target.namespace, target.name)
        here = self._here(kind, old)
        patched = self._patched(media, kind, here, bodies.raw(request))
        warnings: list[str] = []
        if not isinstance(patched.get("metadata"), dict):
            patched["metadata"] = {}
        patched = bodies.check_kind(kind, patched)
        fill = kind.key != "pods"
        new = bodies.normal(self.engine, request, kind, patched, warnings, None, fill)
        if fill is False:
            self._fill_pod(kind, new, old)
        self._check_name(new, target)
        return _warn(self._store(request, kind, target, new, old, dry_run), warnings)

    def _fill_pod(self, kind: Kind, new: Obj, old: Obj) -> None:
        """Defaults for containers that a patch added to a pod; what the pod already has stays as it is."""
        if new.get("spec") != old.get("spec") and kind.struct is not None:
            defaults.apply(kind.struct, new)

    @staticmethod
    def _patched(media: str, kind: Kind, obj: Obj, patch: Any) -> Obj:
        if media == _PATCHES[0]:
            return patching.json_patch(obj, patch)
        if not isinstance(patch, dict):
            name = canonical.json_kind(patch)
            raise bad_request(f"json: cannot unmarshal {name} into Go value of type map[string]interface {{}}")
        if media == _PATCHES[1]:
            merged: Obj = patching.merge_patch(obj, patch)
            return merged
        assert kind.struct is not None
        body = {k: v for k, v in patch.items() if k not in ("apiVersion", "kind")}
        head = {k: v for k, v in patch.items() if k in ("apiVersion", "kind")}
        return {**patching.strategic_patch(kind.struct, obj, body), **head}

    def _apply(self, request: Request, kind: Kind, target: Target, dry_run: bool) -> Response:
        config = self._config(request, kind, target)
        old = self.engine.find(self.state, kind, target.namespace, target.name)
        if old is None and target.subresource:
            raise not_found(kind.resource, kind.group, target.name)
        live = self._here(kind, old) if old is not None else {"metadata": {}}
        version = config["metadata"].get("resourceVersion")
        if version and old is not None and version != old["metadata"]["resourceVersion"]:
            raise conflict(kind.resource, kind.group, target.name, STALE)
        entries = live["metadata"].get("managedFields") if old is not None else []
        reset = ("status",) if target.subresource == "" and strategy.has_status(kind) else ()
        if target.subresource == "status":
            reset = ("spec",)
        who = ownership.Writer(request.arg("fieldManager"), kind.api_version, target.subresource, reset)
        body = {k: v for k, v in config.items() if k not in reset}
        force = request.flag("force")
        now = self.engine.now()
        before = kind.api_version if old is not None else ""
        shape = shapes.of(kind)
        merged, owned = ownership.apply(shape, live, body, entries, who, now, force=force, before=before)
        if who.name == "kubectl":
            ownership.note_applied(config, merged)
        warnings: list[str] = []
        full = {**merged, "apiVersion": kind.api_version, "kind": kind.kind}
        new = bodies.normal(self.engine, request, kind, full, warnings)
        if owned:
            new["metadata"]["managedFields"] = owned
        else:
            new["metadata"].pop("managedFields", None)
        if old is None:
            return self._apply_new(request, kind, target, new, dry_run)
        return self._store(request, kind, target, new, old, dry_run, owned=True)

    def _apply_new(self, request: Request, kind: Kind, target: Target, new: Obj, dry_run: bool) -> Response:
        new["metadata"]["name"] = target.name
        self._place(kind, new, target.namespace)
        made = self.engine.create(self.state, kind, new, dry_run=dry_run)
        response = printing.one(self.engine, request, kind, made, 201)
        response.applied = not dry_run
        return response

    def _config(self, request: Request, kind: Kind, target: Target) -> Obj:
        """The applied configuration, checked against the schema."""
        config = bodies.raw(request)
        if not isinstance(config, dict):
            raise bad_request(
                "error decoding YAML: json: cannot unmarshal into Go value of type map[string]interface {}"
            )
        group, _, version = str(config.get("apiVersion", "")).rpartition("/")
        gvk = f"{group}/{version}, Kind={config.get('kind', '')}"
        if (group, version, config.get("kind")) != (kind.group, kind.version, kind.kind):
            raise bad_request(f"invalid object type: {gvk}")
        meta = config.setdefault("metadata", {})
        if meta.get("managedFields") is not None:
            raise bad_request("metadata.managedFields must be nil")
        name = meta.get("name", target.name)
        if name != target.name:
            raise bad_request(f"the name of the object ({name}) does not match the name on the URL ({target.name})")
        if kind.namespaced and meta.get("namespace") not in (None, "", target.namespace):
            raise bad_request("the namespace of the provided object does not match the namespace sent on the request")
        try:
            fieldsets.check(shapes.of(kind), config)
        except fieldsets.TypingError as error:
            place = f"({meta.get('namespace', '')}/{name}; {gvk})"
            raise ApiError(500, "", f"failed to create typed patch object {place}: {error}") from error
        return config

    # deleting

    def delete(self, request: Request, kind: Kind, target: Target) -> Response:
        """DELETE of one object."""
        chosen = options.deletion(request)
        old = self.engine.get(self.state, kind, target.namespace, target.name)
        if not chosen.dry_run:
            admission.refuse_delete(kind, target.name)
        done = self.engine.delete(self.state, kind, old, chosen)
        response = answer(done) if done.get("kind") == "Status" else printing.one(self.engine, request, kind, done)
        response.applied = done is not old and not chosen.dry_run
        return response

    def delete_collection(self, request: Request, kind: Kind, target: Target) -> Response:
        """DELETE on a collection."""
        chosen = options.deletion(request)
        selected = listing.selection(request, kind, target.namespace)
        found = listing.page(self.engine, self.state, _plain(request), kind, selected)
        gone = []
        for entry in found.entries:
            each = DeleteOptions(chosen.grace, chosen.propagation, "", "", chosen.dry_run)
            done = self.engine.delete(self.state, kind, entry.obj, each)
            gone.append(Entry(entry.obj if done.get("kind") == "Status" else done))
        response = printing.many(self.engine, _plain(request), kind, listing.Page(gone, found.meta))
        response.applied = bool(gone) and not chosen.dry_run
        return response


def _plain(request: Request) -> Request:
    keep = "&".join(p for p in request.query_string.split("&") if p.split("=")[0] in ("labelSelector", "fieldSelector"))
    return Request(request.method, request.path, keep, {"accept": "application/json"})


def _stale_uid(kind: Kind, target: Target, given: str, actual: str) -> ApiError:
    place = "/".join(
        p for p in (kind.resource if not kind.group else f"{kind.resource}", target.namespace, target.name) if p
    )
    why = f"Precondition failed: UID in precondition: {given}, UID in object meta: {actual}"
    text = (
        f"StorageError: invalid object, Code: 4, Key: /registry/{place}, ResourceVersion: 0, AdditionalErrorMsg: {why}"
    )
    return conflict(kind.resource, kind.group, target.name, text)


def _warn(response: Response, warnings: list[str]) -> Response:
    if warnings:
        response.headers["Warning"] = ", ".join(f'299 - "{w}"' for w in (x.replace('"', '\\"') for x in warnings))
    return response
