"""Checks of ObjectMeta: names per kind, labels, annotations, owners, finalizers."""

from __future__ import annotations

import re
from typing import Any

from instantstart_sandbox.kube.catalog import Kind
from instantstart_sandbox.kube.schema import quote
from instantstart_sandbox.kube.status import Cause

Obj = dict[str, Any]
LABEL = re.compile(r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")
SUBDOMAIN = re.compile(r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$")
_QUALIFIED = re.compile(r"^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$")
LABEL_TEXT = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
SUBDOMAIN_TEXT = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
NAME_PART_TEXT = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
KEY_TEXT = (
    "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. "
    "'example.com/MyName')"
)
VALUE_TEXT = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
_LABEL_NAMES = ("namespaces", "services")
_PATH_NAMES = (
    "roles.rbac.authorization.k8s.io",
    "rolebindings.rbac.authorization.k8s.io",
    "clusterroles.rbac.authorization.k8s.io",
    "clusterrolebindings.rbac.authorization.k8s.io",
)


def required(field: str, text: str = "") -> Cause:
    """A missing value."""
    return Cause(field, "FieldValueRequired", "Required value" + (f": {text}" if text else ""))


def bad(field: str, value: Any, text: str) -> Cause:
    """A wrong value."""
    return Cause(field, "FieldValueInvalid", f"Invalid value: {quote(value)}: {text}")


def not_supported(field: str, value: Any, options: list[str]) -> Cause:
    """A value outside a list."""
    listed = ", ".join(f'"{o}"' for o in options)
    return Cause(field, "FieldValueNotSupported", f"Unsupported value: {quote(value)}: supported values: {listed}")


def denied(field: str, text: str) -> Cause:
    """Something that may not be."""
    return Cause(field, "FieldValueForbidden", f"Forbidden: {text}")


def name_faults(key: str, name: str, field: str = "metadata.name") -> list[Cause]:
    """What is wrong with a name of that resource."""
    if key in _PATH_NAMES:
        return [bad(field, name, f"may not contain '{c}'") for c in "/%" if c in name]
    if key in _LABEL_NAMES:
        if key == "services" and "." in name and SUBDOMAIN.match(name):
            return [bad(field, name, "must not contain dots")]
        found = [] if len(name) <= 63 else [bad(field, name, "must be no more than 63 characters")]
        return found if LABEL.match(name) else [*found, bad(field, name, LABEL_TEXT)]
    longest = {"cronjobs.batch": 52, "statefulsets.apps": 63}.get(key, 253)
    found = [] if len(name) <= longest else [bad(field, name, f"must be no more than {longest} characters")]
    return found if SUBDOMAIN.match(name) else [*found, bad(field, name, SUBDOMAIN_TEXT)]


def qualified_faults(name: str) -> list[str]:
    """What is wrong with a label key, annotation key or finalizer."""
    parts = name.split("/")
    if len(parts) > 2:
        return [KEY_TEXT]
    found: list[str] = []
    if len(parts) == 2:
        if not parts[0]:
            found.append("prefix part must be non-empty")
        elif not SUBDOMAIN.match(parts[0]):
            found.append("prefix part " + SUBDOMAIN_TEXT)
    last = parts[-1]
    if not last:
        found.append("name part must be non-empty")
    elif len(last) > 63:
        found.append("name part must be no more than 63 bytes")
    if not _QUALIFIED.match(last):
        found.append(NAME_PART_TEXT)
    return found


def label_value_faults(value: str) -> list[str]:
    """What is wrong with a label value."""
    found = [] if len(value) <= 63 else ["must be no more than 63 bytes"]
    if value and not _QUALIFIED.match(value):
        found.append(VALUE_TEXT)
    return found


def label_faults(labels: Obj | None, field: str) -> list[Cause]:
    """Faults of a label map."""
    found: list[Cause] = []
    for key in sorted(labels or {}):
        found.extend(bad(field, key, text) for text in qualified_faults(key))
        found.extend(bad(field, (labels or {})[key], text) for text in label_value_faults((labels or {})[key]))
    return found


def _annotation_faults(meta: Obj) -> list[Cause]:
    notes: Obj = meta.get("annotations") or {}
    found = [bad("metadata.annotations", k, t) for k in sorted(notes) for t in qualified_faults(k.lower())]
    if sum(len(k) + len(v) for k, v in notes.items()) > 262144:
        found.append(Cause("metadata.annotations", "FieldValueTooLong", "Too long: may not be more than 262144 bytes"))
    return found


def _owner_faults(meta: Obj) -> list[Cause]:
    found: list[Cause] = []
    owners = meta.get("ownerReferences") or []
    for owner in owners:
        for name in ("apiVersion", "kind", "name", "uid"):
            if not owner.get(name):
                field = "version" if name == "apiVersion" else name
                found.append(bad(f"metadata.ownerReferences.{field}", "", "must not be empty"))
    controllers = [o for o in owners if o.get("controller")]
    if len(controllers) > 1:
        one, two = (f"{o['kind']}/{o['name']}" for o in controllers[:2])
        text = f'Only one reference can have Controller set to true. Found "true" in references for {one} and {two}'
        found.append(bad("metadata.ownerReferences", owners, text))
    return found


def _finalizer_faults(meta: Obj) -> list[Cause]:
    found: list[Cause] = []
    for i, name in enumerate(meta.get("finalizers") or []):
        texts = qualified_faults(name)
        found.extend(bad("metadata.finalizers", name, t) for t in texts)
        if "/" not in name and name not in ("orphan", "foregroundDeletion", "kubernetes"):
            text = "name is neither a standard finalizer name nor is it fully qualified"
            found.append(bad(f"metadata.finalizers[{i}]", name, text))
    return found


def _shared(meta: Obj) -> list[Cause]:
    return [
        *label_faults(meta.get("labels"), "metadata.labels"),
        *_annotation_faults(meta),
        *_owner_faults(meta),
        *_finalizer_faults(meta),
    ]


def on_create(kind: Kind, obj: Obj) -> list[Cause]:
    """Faults of a new object's metadata."""
    meta = obj["metadata"]
    found: list[Cause] = []
    prefix = meta.get("generateName")
    if prefix:
        found.extend(name_faults(kind.key, prefix.rstrip("-.") or prefix, "metadata.generateName"))
    if not meta.get("name"):
        found.append(required("metadata.name", "name or generateName is required"))
    else:
        found.extend(name_faults(kind.key, meta["name"]))
    return [*found, *_shared(meta)]


def on_update(_kind: Kind, new: Obj, old: Obj) -> list[Cause]:
    """Faults of changed metadata."""
    meta, former = new["metadata"], old["metadata"]
    found = _shared(meta)
    if "deletionTimestamp" in former:
        added = [f for f in meta.get("finalizers") or [] if f not in (former.get("finalizers") or [])]
        if added:
            listed = "[]string{" + ", ".join(f'"{a}"' for a in added) + "}"
            text = f"no new finalizers can be added if the object is being deleted, found new finalizers {listed}"
            found.append(denied("metadata.finalizers", text))
    return found
