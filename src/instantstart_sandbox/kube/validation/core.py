"""Rules of core and smaller kinds: config, secrets, services, volumes, nodes, events, roles, budgets, classes."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from typing import Any

import orjson

from instantstart_sandbox.kube import quantity
from instantstart_sandbox.kube.status import Cause
from instantstart_sandbox.kube.validation.kinds import rule
from instantstart_sandbox.kube.validation.metadata import bad, denied, not_supported, qualified_faults, required
from instantstart_sandbox.kube.validation.podspec import port_name, port_number

Obj = dict[str, Any]
_CONFIG_KEY = re.compile(r"^[-._a-zA-Z0-9]+$")
_CONFIG_TEXT = (
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or "
    "'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
)
_FROZEN = "field is immutable when `immutable` is set"
_EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"]
_MODES = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"]


def _keys(obj: Obj, parts: tuple[str, ...]) -> Iterator[Cause]:
    for part in parts:
        for key in sorted(obj.get(part) or {}):
            if not _CONFIG_KEY.match(key):
                yield bad(f"{part}[{key}]", key, _CONFIG_TEXT)


def _frozen(new: Obj, old: Obj | None, parts: tuple[str, ...]) -> Iterator[Cause]:
    if old is None or not old.get("immutable"):
        return
    if not new.get("immutable"):
        yield denied("immutable", _FROZEN)
    for part in parts:
        if new.get(part) != old.get(part):
            yield denied(part, _FROZEN)


@rule("configmaps")
def _config_map(new: Obj, old: Obj | None) -> list[Cause]:
    found = [*_frozen(new, old, ("data", "binaryData")), *_keys(new, ("data", "binaryData"))]
    for key in sorted(new.get("data") or {}):
        if key in (new.get("binaryData") or {}):
            found.append(bad(f"data[{key}]", key, "duplicate of key present in binaryData"))
    return found


@rule("secrets")
def _secret(new: Obj, old: Obj | None) -> list[Cause]:
    found: list[Cause] = []
    kind, data = new.get("type", "Opaque"), new.get("data") or {}
    if old is not None and kind != old.get("type"):
        found.append(bad("type", kind, "field is immutable"))
    found.extend(_frozen(new, old, ("data",)))
    found.extend(_keys(new, ("data",)))
    if kind == "kubernetes.io/basic-auth" and not ({"username", "password"} & set(data)):
        found.extend([required("data[username]"), required("data[password]")])
    if kind == "kubernetes.io/ssh-auth" and "ssh-privatekey" not in data:
        found.append(required("data[ssh-privatekey]"))
    if kind == "kubernetes.io/tls":
        found.extend(required(f"data[{k}]") for k in ("tls.crt", "tls.key") if k not in data)
    if kind == "kubernetes.io/dockerconfigjson":
        found.extend(_docker(data))
    if kind == "kubernetes.io/service-account-token" and not (new["metadata"].get("annotations") or {}).get(
        "kubernetes.io/service-account.name"
    ):
        found.append(required("metadata.annotations[kubernetes.io/service-account.name]"))
    return found


def _docker(data: Obj) -> Iterator[Cause]:
    if ".dockerconfigjson" not in data:
        yield required("data[.dockerconfigjson]")
        return
    try:
        orjson.loads(base64.b64decode(data[".dockerconfigjson"]))
    except ValueError:
        yield bad("data[.dockerconfigjson]", "<secret contents redacted>", "unexpected end of JSON input")


@rule("services")
def _service(new: Obj, old: Obj | None) -> list[Cause]:
    return [*_service_spec(new["spec"]), *_service_update(new["spec"], (old or {}).get("spec"))]


def _service_spec(spec: Obj) -> Iterator[Cause]:
    kind, ports = spec.get("type"), spec.get("ports") or []
    kinds = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"]
    if not ports and kind != "ExternalName" and spec.get("clusterIP") != "None":
        yield required("spec.ports")
    if kind not in kinds:
        yield not_supported("spec.type", kind, kinds)
    if kind == "ExternalName" and not spec.get("externalName"):
        yield required("spec.externalName")
    names: set[str] = set()
    for i, port in enumerate(ports):
        here = f"spec.ports[{i}]"
        name = port.get("name", "")
        if not name and len(ports) > 1:
            yield required(f"{here}.name")
        elif name and not re.match(r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", name):
            yield bad(
                f"{here}.name", name, "a lowercase RFC 1123 label must consist of lower case alphanumeric characters"
            )
        elif name and name in names:
            yield Cause(f"{here}.name", "FieldValueDuplicate", f'Duplicate value: "{name}"')
        names.add(name)
        yield from port_number(port.get("port"), f"{here}.port")
        target = port.get("targetPort")
        yield from (
            port_name(target, f"{here}.targetPort")
            if isinstance(target, str)
            else port_number(target, f"{here}.targetPort")
        )
        if port.get("protocol") not in ("TCP", "UDP", "SCTP"):
            yield not_supported(f"{here}.protocol", port.get("protocol"), ["SCTP", "TCP", "UDP"])
    yield from _double_ports(ports)


def _double_ports(ports: list[Obj]) -> Iterator[Cause]:
    seen: set[Any] = set()
    for i, port in enumerate(ports):
        mark = (port.get("protocol"), port.get("port"))
        if mark in seen:
            shown = {
                "Name": "",
                "Protocol": mark[0],
                "AppProtocol": None,
                "Port": mark[1],
                "TargetPort": 0,
                "NodePort": 0,
            }
            yield Cause(f"spec.ports[{i}]", "FieldValueDuplicate", f"Duplicate value: {orjson.dumps(shown).decode()}")
        seen.add(mark)


def _service_update(new: Obj, old: Obj | None) -> Iterator[Cause]:
    if old is None or "ExternalName" in (new.get("type"), old.get("type")):
        return
    address = new.get("clusterIP")
    if address and old.get("clusterIP") and address != old["clusterIP"]:
        yield bad("spec.clusterIPs[0]", [address], "may not change once set")


@rule("persistentvolumeclaims")
def _claim(new: Obj, old: Obj | None) -> list[Cause]:
    spec = new["spec"]
    if old is not None:
        return list(_claim_update(new, old))
    found: list[Cause] = []
    modes = spec.get("accessModes") or []
    if not modes:
        found.append(required("spec.accessModes", "at least 1 access mode is required"))
    found.extend(not_supported("spec.accessModes", m, _MODES) for m in modes if m not in _MODES)
    size = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    if size is None:
        found.append(required("spec.resources[storage]"))
    elif quantity.parse(size) <= 0:
        found.append(bad("spec.resources[storage]", size, "must be greater than zero"))
    if spec.get("volumeMode") not in ("Block", "Filesystem"):
        found.append(not_supported("spec.volumeMode", spec.get("volumeMode"), ["Block", "Filesystem"]))
    return found


def _claim_update(new: Obj, old: Obj) -> Iterator[Cause]:
    mine, theirs = dict(new["spec"]), dict(old["spec"])
    if not theirs.get("volumeName"):
        theirs.pop("volumeName", None)
        mine.pop("volumeName", None)
    bound = (old.get("status") or {}).get("phase") == "Bound"
    if bound:
        one = ((mine.get("resources") or {}).get("requests") or {}).get("storage", "0")
        two = ((theirs.get("resources") or {}).get("requests") or {}).get("storage", "0")
        if quantity.parse(one) < quantity.parse(two):
            text = "field can not be less than status.capacity"
            yield denied("spec.resources.requests.storage", text)
            return
        for part in (mine, theirs):
            part.pop("resources", None)
            part.pop("volumeAttributesClassName", None)
    if mine != theirs:
        text = (
            "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"
        )
        yield denied("spec", text)


_PV_PLAIN = {"capacity", "accessModes", "claimRef", "persistentVolumeReclaimPolicy", "storageClassName", "mountOptions",
             "volumeMode", "nodeAffinity", "volumeAttributesClassName"}  # fmt: skip


@rule("persistentvolumes")
def _volume(new: Obj, old: Obj | None) -> list[Cause]:
    spec = new["spec"]
    found: list[Cause] = []
    if not spec.get("accessModes"):
        found.append(required("spec.accessModes"))
    found.extend(not_supported("spec.accessModes", m, _MODES) for m in spec.get("accessModes") or [] if m not in _MODES)
    if not spec.get("capacity"):
        found.append(required("spec.capacity"))
    sources = [k for k in spec if k not in _PV_PLAIN]
    if not sources:
        found.append(required("spec", "must specify a volume type"))
    found.extend(denied(f"spec.{k}", "may not specify more than 1 volume type") for k in sources[1:])
    if old is not None and {k: spec[k] for k in sources} != {
        k: v for k, v in old["spec"].items() if k not in _PV_PLAIN
    }:
        found.append(denied("spec.persistentvolumesource", "spec.persistentvolumesource is immutable after creation"))
    return found


@rule("nodes")
def _node(new: Obj, old: Obj | None) -> list[Cause]:
    found = list(_taints(new["spec"].get("taints") or []))
    former = (old or {}).get("spec", {}).get("providerID")
    if former and new["spec"].get("providerID") != former:
        found.append(denied("spec.providerID", 'node updates may not change providerID except from "" to valid'))
    return found


def _taints(taints: list[Obj]) -> Iterator[Cause]:
    seen: set[Any] = set()
    for i, taint in enumerate(taints):
        here = f"metadata.taints[{i}]"
        for text in qualified_faults(taint.get("key", "")):
            yield bad(f"{here}.key", taint.get("key", ""), text)
        if taint.get("effect") not in _EFFECTS:
            yield not_supported(f"{here}.effect", taint.get("effect", ""), _EFFECTS)
        mark = (taint.get("key"), taint.get("effect"))
        if mark in seen:
            shown = {"Key": mark[0], "Value": taint.get("value", ""), "Effect": mark[1], "TimeAdded": None}
            text = f"Duplicate value: {orjson.dumps(shown).decode()}: taints must be unique by key and effect pair"
            yield Cause(here, "FieldValueDuplicate", text)
        seen.add(mark)


@rule("nodes/status")
def _node_status(new: Obj, _old: Obj | None) -> list[Cause]:
    status = new.get("status") or {}
    found: list[Cause] = []
    for part in ("capacity", "allocatable"):
        amounts = status.get(part) or (status.get("capacity") if part == "allocatable" else {}) or {}
        for name, value in amounts.items():
            if quantity.parse(value) < 0:
                found.append(bad(f"status.{part}.{name}", value, "must be greater than or equal to 0"))
    seen: list[Obj] = []
    for i, address in enumerate(status.get("addresses") or []):
        if address in seen:
            shown = {"Type": address.get("type"), "Address": address.get("address")}
            text = f"Duplicate value: {orjson.dumps(shown).decode()}"
            found.append(Cause(f"status.addresses[{i}]", "FieldValueDuplicate", text))
        seen.append(address)
    return found


@rule("events")
def _event(new: Obj, _old: Obj | None) -> list[Cause]:
    target = new.get("involvedObject", new.get("regarding")) or {}
    namespace = new["metadata"].get("namespace", "")
    modern = "regarding" in new or new.get("apiVersion") == "events.k8s.io/v1"
    given = target.get("namespace", "")
    if given != namespace and not (not given and namespace == "default"):
        return [bad("involvedObject.namespace", given, "does not match event.namespace")]
    if not modern:
        return []
    found: list[Cause] = []
    if not new.get("eventTime"):
        found.append(required("eventTime"))
        return found
    for name in ("reportingController", "reportingInstance", "action", "reason"):
        if not new.get(name):
            found.append(required(name))
    if new.get("type") not in ("Normal", "Warning"):
        found.append(bad("type", "", f"has invalid value: {new.get('type', '')}"))
    return found


@rule("roles.rbac.authorization.k8s.io", "clusterroles.rbac.authorization.k8s.io")
def _role(new: Obj, _old: Obj | None) -> list[Cause]:
    found: list[Cause] = []
    namespaced = bool(new["metadata"].get("namespace"))
    for i, item in enumerate(new.get("rules") or []):
        here = f"rules[{i}]"
        if not item.get("verbs"):
            found.append(required(f"{here}.verbs", "verbs must contain at least one value"))
        if item.get("nonResourceURLs"):
            if namespaced:
                found.append(
                    bad(
                        f"{here}.nonResourceURLs",
                        item["nonResourceURLs"],
                        "namespaced rules cannot apply to non-resource URLs",
                    )
                )
            continue
        if not item.get("apiGroups"):
            found.append(required(f"{here}.apiGroups", "resource rules must supply at least one api group"))
        if not item.get("resources"):
            found.append(required(f"{here}.resources", "resource rules must supply at least one resource"))
    return found


@rule("rolebindings.rbac.authorization.k8s.io", "clusterrolebindings.rbac.authorization.k8s.io")
def _binding(new: Obj, old: Obj | None) -> list[Cause]:
    found: list[Cause] = []
    kinds = ["ServiceAccount", "User", "Group"]
    ref = new["roleRef"]
    if not ref.get("name"):
        found.append(required("roleRef.name"))
    if ref.get("kind") not in ("Role", "ClusterRole"):
        found.append(not_supported("roleRef.kind", ref.get("kind", ""), ["Role", "ClusterRole"]))
    for i, subject in enumerate(new.get("subjects") or []):
        if subject.get("kind") not in kinds:
            found.append(not_supported(f"subjects[{i}].kind", subject.get("kind", ""), kinds))
        if not subject.get("name"):
            found.append(required(f"subjects[{i}].name"))
        if (
            subject.get("kind") == "ServiceAccount"
            and not subject.get("namespace")
            and not new["metadata"].get("namespace")
        ):
            found.append(required(f"subjects[{i}].namespace"))
    if old is not None and ref != old["roleRef"]:
        shown = {"APIGroup": ref.get("apiGroup"), "Kind": ref.get("kind"), "Name": ref.get("name")}
        found.append(bad("roleRef", shown, "cannot change roleRef"))
    return found


@rule("poddisruptionbudgets.policy")
def _budget(new: Obj, _old: Obj | None) -> list[Cause]:
    spec = new["spec"]
    if spec.get("minAvailable") is not None and spec.get("maxUnavailable") is not None:
        return [bad("spec", spec, "minAvailable and maxUnavailable cannot be both set")]
    return []


@rule("leases.coordination.k8s.io")
def _lease(new: Obj, _old: Obj | None) -> list[Cause]:
    seconds = (new.get("spec") or {}).get("leaseDurationSeconds")
    return (
        [bad("spec.leaseDurationSeconds", seconds, "must be greater than 0")]
        if seconds is not None and seconds <= 0
        else []
    )


@rule("priorityclasses.scheduling.k8s.io")
def _priority(new: Obj, old: Obj | None) -> list[Cause]:
    found: list[Cause] = []
    if old is None and new.get("value", 0) > 1000000000 and not new["metadata"]["name"].startswith("system-"):
        found.append(denied("value", "maximum allowed value of a user defined priority is 1000000000"))
    if old is not None and new.get("value") != old.get("value"):
        found.append(denied("value", "may not be changed in an update."))
    return found


@rule("storageclasses.storage.k8s.io")
def _class(new: Obj, old: Obj | None) -> list[Cause]:
    found = [] if new.get("provisioner") else [required("provisioner")]
    if old is None:
        return found
    for name in ("parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"):
        if new.get(name) != old.get(name):
            found.append(bad(name, new.get(name), "field is immutable"))
    return found
