"""Rules of custom resource definitions: names, versions, structural schemas, stored versions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from instantstart_sandbox.kube.status import Cause
from instantstart_sandbox.kube.validation.kinds import rule
from instantstart_sandbox.kube.validation.metadata import bad, not_supported, required

Obj = dict[str, Any]


def _structural(schema: Obj, where: str, root: bool = True) -> Iterator[Cause]:
    """A schema must say the type of everything it specifies."""
    open_kind = schema.get("x-kubernetes-int-or-string") or schema.get("x-kubernetes-preserve-unknown-fields")
    if not schema.get("type"):
        if root:
            yield required(f"{where}.type", "must not be empty at the root")
        elif not open_kind:
            yield required(f"{where}.type", "must not be empty for specified object fields")
    for name, item in (schema.get("properties") or {}).items():
        yield from _structural(item, f"{where}.properties[{name}]", False)
    if isinstance(schema.get("items"), dict):
        items = schema["items"]
        if (
            not items.get("type")
            and not items.get("x-kubernetes-int-or-string")
            and not items.get("x-kubernetes-preserve-unknown-fields")
        ):
            yield required(f"{where}.items.type", "must not be empty for specified array items")
        else:
            yield from _structural(items, f"{where}.items", False)
    if isinstance(schema.get("additionalProperties"), dict):
        yield from _structural(schema["additionalProperties"], f"{where}.additionalProperties", False)


@rule("customresourcedefinitions.apiextensions.k8s.io")
def _definition(new: Obj, old: Obj | None) -> list[Cause]:
    return list(_spec(new, old))


def _spec(new: Obj, old: Obj | None) -> Iterator[Cause]:
    spec = new["spec"]
    names = spec.get("names") or {}
    wanted = f"{names.get('plural', '')}.{spec.get('group', '')}"
    if new["metadata"]["name"] != wanted:
        yield bad("metadata.name", new["metadata"]["name"], 'must be spec.names.plural+"."+spec.group')
    for name in ("plural", "kind"):
        if not names.get(name):
            yield required(f"spec.names.{name}")
    if not spec.get("group"):
        yield required("spec.group")
    if spec.get("scope") not in ("Cluster", "Namespaced"):
        yield not_supported("spec.scope", spec.get("scope", ""), ["Cluster", "Namespaced"])
    versions = spec.get("versions") or []
    stored = [v["name"] for v in versions if v.get("storage")]
    if len(stored) != 1:
        text = "must have exactly one version marked as storage version"
        yield bad("spec.versions", [v.get("name") for v in versions], text)
    single = len(versions) == 1
    for i, version in enumerate(versions):
        schema = (version.get("schema") or {}).get("openAPIV3Schema")
        if schema is None:
            yield required(f"spec.versions[{i}].schema.openAPIV3Schema", "schemas are required")
            continue
        where = "spec.validation.openAPIV3Schema" if single else f"spec.versions[{i}].schema.openAPIV3Schema"
        yield from _structural(schema, where)
    kept = (new.get("status") or {}).get("storedVersions") or []
    if old is not None:
        if stored and kept and stored[0] not in kept:
            yield bad("status.storedVersions", kept, f"must have the storage version {stored[0]}")
        known = {v["name"] for v in versions}
        for i, name in enumerate(kept):
            if name not in known:
                yield bad(
                    f"status.storedVersions[{i}]",
                    name,
                    f"missing from spec.versions; {name} was previously a storage version, and must remain in "
                    f"spec.versions until a storage migration ensures no data remains persisted in {name} and removes "
                    f"{name} from status.storedVersions",
                )
        if spec.get("scope") != old["spec"].get("scope"):
            yield bad("spec.scope", spec.get("scope"), "field is immutable")
        if names.get("kind") != old["spec"]["names"].get("kind"):
            yield bad("spec.names.kind", names.get("kind"), "field is immutable")
