"""Custom resource definitions: checked, accepted at once, and turned into kinds that the server then serves."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from instantstart_sandbox.kube.catalog import ALL_VERBS, Kind, Subresource

Obj = dict[str, Any]
DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io"


@dataclass
class CustomVersion:
    """One served version of a definition."""

    definition: Obj
    version: Obj
    list_kind: str
    schema: Obj
    columns: list[Obj] = field(default_factory=list)

    @property
    def stored_version(self) -> str:
        """Name of the version in which objects are kept."""
        return str(next(v["name"] for v in self.definition["spec"]["versions"] if v.get("storage")))

    @property
    def terminating(self) -> bool:
        """Whether the definition is being deleted."""
        return "deletionTimestamp" in self.definition["metadata"]

    @cached_property
    def has_rules(self) -> bool:
        """Whether the schema carries validation rules (CEL)."""
        return "x-kubernetes-validations" in str(self.schema)

    @property
    def scale(self) -> Obj | None:
        """Paths of the scale subresource."""
        found: Obj | None = (self.version.get("subresources") or {}).get("scale")
        return found

    @property
    def selectable(self) -> tuple[str, ...]:
        """Extra fields for field selectors."""
        return tuple(f["jsonPath"].lstrip(".") for f in self.version.get("selectableFields") or [])


def established(definition: Obj) -> bool:
    """Whether its resources are served."""
    conditions = (definition.get("status") or {}).get("conditions") or []
    return any(c["type"] == "Established" and c["status"] == "True" for c in conditions)


def kinds_of(definition: Obj) -> list[Kind]:
    """The kinds of an established definition's served versions, preferred one first."""
    spec = definition["spec"]
    names = (definition.get("status") or {}).get("acceptedNames") or spec["names"]
    found = []
    for version in sorted(spec["versions"], key=lambda v: version_order(v["name"])):
        if not version.get("served"):
            continue
        schema = (version.get("schema") or {}).get("openAPIV3Schema") or {}
        custom = CustomVersion(
            definition,
            version,
            names.get("listKind") or names["kind"] + "List",
            schema,
            version.get("additionalPrinterColumns") or [],
        )
        found.append(
            Kind(
                group=spec["group"],
                version=version["name"],
                resource=names["plural"],
                kind=names["kind"],
                singular=names.get("singular") or names["kind"].lower(),
                namespaced=spec["scope"] == "Namespaced",
                verbs=ALL_VERBS,
                short=tuple(names.get("shortNames") or ()),
                categories=tuple(names.get("categories") or ()),
                subresources=_subresources(spec["group"], version, names["kind"]),
                custom=custom,
            )
        )
    return found


def _subresources(group: str, version: Obj, kind: str) -> dict[str, Subresource]:
    declared = version.get("subresources") or {}
    verbs = ("get", "patch", "update")
    found = {}
    if "status" in declared:
        found["status"] = Subresource("status", kind, verbs, group, version["name"])
    if "scale" in declared:
        found["scale"] = Subresource("scale", "Scale", verbs, "autoscaling", "v1")
    return found


def version_order(name: str) -> tuple[int, int, int, str]:
    """Sort key by Kubernetes version priority: v2, v1, v1beta2, v1beta1, v1alpha1, then others by name."""
    match = re.match(r"^v(\d+)(?:(alpha|beta)(\d+))?$", name)
    if not match:
        return (3, 0, 0, name)
    major, stage, minor = match.groups()
    rank = {None: 0, "beta": 1, "alpha": 2}[stage]
    return (rank, -int(major), -int(minor or 0), name)


def accepted(definition: Obj, now: str) -> Obj:
    """The definition with the status the server gives it once its names are accepted."""
    spec = definition["spec"]
    names = {k: v for k, v in spec["names"].items() if v}
    status = dict(definition.get("status") or {})
    conditions = [
        _condition("NamesAccepted", "True", "NoConflicts", "no conflicts found", now),
        _condition("Established", "True", "InitialNamesAccepted", "the initial names have been accepted", now),
    ]
    kept = [c for c in status.get("conditions") or [] if c["type"] not in ("NamesAccepted", "Established")]
    stored = list(status.get("storedVersions") or [])
    current = next(v["name"] for v in spec["versions"] if v.get("storage"))
    if current not in stored:
        stored.append(current)
    return {
        **definition,
        "status": {"conditions": [*conditions, *kept], "acceptedNames": names, "storedVersions": stored},
    }


def ending(definition: Obj, now: str) -> Obj:
    """The status of a definition whose deletion was asked for."""
    text = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon"
    return with_condition(definition, _condition("Terminating", "True", "InstanceDeletionPending", text, now))


def removing(definition: Obj, now: str) -> Obj:
    """The status of a definition whose objects are being deleted."""
    text = "CustomResource deletion is in progress"
    return with_condition(definition, _condition("Terminating", "True", "InstanceDeletionInProgress", text, now))


def with_condition(definition: Obj, condition: Obj) -> Obj:
    """The status with one condition put in or replaced."""
    status = definition.get("status") or {}
    others = [c for c in status.get("conditions") or [] if c["type"] != condition["type"]]
    return {**status, "conditions": [*others, condition]}


def _condition(kind: str, status: str, reason: str, message: str, now: str) -> Obj:
    return {"type": kind, "status": status, "lastTransitionTime": now, "reason": reason, "message": message}
